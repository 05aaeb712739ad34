"""A journal that knows what is to come: what sessions hear on their way is what they heard in the recording, however
fast everybody is this time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from moot.bus.mailbox import Mail
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import journal as ledger
from moot.ledger.usage import DOLLAR
from moot.models.model import ModelFailed
from moot.runner import refusals
from moot.runner.journals import Page, Signs, StoredJournal
from moot.runner.refusals import Refusal
from moot.runner.spending import Wanted
from moot.session.hearing import Heard
from moot.session.journal import Done, Intent, Known, OverBudget
from moot.session.turn import Facts
from moot.taping.replaying import notes
from moot.taping.replaying.exchanges import Exchange
from moot.taping.replaying.performance import Part, Performance
from moot.taping.tape import Refused

_NOTHING: Mapping[str, int] = {}


class Watching(Protocol):
    """Who knows what was asked in the recording, and is told what is on record now."""

    @property
    def foreseen(self) -> Sequence[Exchange | Refused]: ...

    def refused(self, path: str, model: str) -> Refused | None: ...

    def on_record(self, paths: Iterable[str]) -> None: ...


async def open(performance: Performance, part: Part, watching: Watching) -> "ForeseenJournal":
    store, attempt = await performance.store, part.begun
    entries = await store.read(lambda tx: ledger.entries(tx, attempt.tree.root))
    # When the host was stopped is on the tape: that of the replay does not count.
    journal = ForeseenJournal(store, attempt, entries, Signs())
    journal.foresee(_Foreseen(performance, part, watching, {one.path: one for one in watching.foreseen}))
    return journal


@record
class _Foreseen:
    performance: Performance
    part: Part
    watching: Watching
    requests: Mapping[str, Exchange | Refused]  # by path, whether they were made or not

    @property
    def is_mail_taken(self) -> bool:
        """Whether somebody was there to be told of mail."""
        return any(one.session.has_last_word for one in self.requests.values() if isinstance(one, Exchange))

    def charged(self, one: Intent) -> Intent:
        """With that set aside which its request was charged, if it was cut off; else nothing is."""
        assert self.part.begin is not None
        lost = self.performance.score.lost.get(self.part.begin.attempt, _NOTHING)
        return replace(one, reserve=lost.get(one.path, 0) / DOLLAR) if one.kind == "model" else one

    def facts(self, path: str) -> dict[str, Json] | None:
        if path not in self.requests:
            return None
        heard, known = self.requests[path].heard, self.performance.likeness
        if heard is None:
            return {}
        told = Heard(known.translate(heard.text), known.translate(heard.facts))
        return Facts(told, heard.is_called_back).plain()


class ForeseenJournal(StoredJournal):
    """Of one attempt that is played. What is on record goes before what is foreseen."""

    _foreseen: _Foreseen
    _due: dict[str, Refused]  # what is not begun now, by path

    def foresee(self, foreseen: _Foreseen) -> None:
        self._foreseen = foreseen
        self._due = {}

    def known(self, path: str) -> Known | None:
        known = super().known(path)
        if known is not None or (facts := self._foreseen.facts(path)) is None:
            return known
        return Known("started", 0, facts)

    def untold(self) -> tuple[Mail, ...]:
        return () if self._foreseen.is_mail_taken else super().untold()

    def _page(self, done: Sequence[Done], begun: Sequence[Intent]) -> Page:
        """No provider has asked anybody to wait."""
        return replace(super()._page(done, begun), waits=[])

    def _refusal(self, tx: Tx, page: Page, wanted: Wanted) -> Refusal | None:
        """Who may not ask is on the tape; everybody else could."""
        refused = next((self._due[one.path] for one in page.opened if one.path in self._due), None)
        attempt = self._attempt
        if refused is None or not refusals.reach_all(tx, attempt.agent, attempt.run, refused.reached):
            return None
        if refused.kind == "rate_limit":
            return ModelFailed("rate_limit", refused.error)
        return OverBudget(refused.error)

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        begun = [self._foreseen.charged(one) for one in begun]
        asked = (one for one in begun if one.kind == "model")
        refused = next((found for one in asked if (found := self._foreseen.watching.refused(one.path, one.name))), None)
        if refused is None:
            await self._note(done, begun)
        else:
            await self._note(done)
            await self._refuse(refused, begun)

    async def _refuse(self, refused: Refused, begun: Sequence[Intent]) -> None:
        """In its turn: others may have used since then what is missing here."""
        performance = self._foreseen.performance
        await notes.turn(performance, self._foreseen.part, refused)
        self._due[refused.path] = refused
        try:
            await self._note((), begun)
        finally:
            del self._due[refused.path]
            performance.turns.done(refused)

    async def _note(self, done: Sequence[Done], begun: Sequence[Intent] = ()) -> None:
        with self._foreseen.part.working():
            try:
                await super().note(done, begun)
            finally:
                self._foreseen.watching.on_record(one.path for one in done)
