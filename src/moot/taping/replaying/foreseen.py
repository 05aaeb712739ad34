"""A journal that knows what is to come: what sessions hear on their way is what they heard in the recording, however
fast everybody is this time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from moot.bus.mailbox import Mail
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import journal as ledger
from moot.runner import limits
from moot.runner.journals import Signs, StoredJournal
from moot.runner.spending import Wanted
from moot.session.hearing import Heard
from moot.session.journal import Done, Intent, Known, OverBudget
from moot.session.turn import Facts
from moot.taping.replaying.exchanges import Exchange
from moot.taping.replaying.performance import Part, Performance


class Watching(Protocol):
    """Who knows what was asked in the recording, and is told what is on record now."""

    @property
    def exchanges(self) -> Sequence[Exchange]: ...

    def on_record(self, paths: Iterable[str]) -> None: ...


async def open(performance: Performance, part: Part, watching: Watching) -> "ForeseenJournal":
    store, attempt = await performance.store, part.begun
    entries, limit = await store.read(lambda tx: (ledger.entries(tx, attempt.tree.root), limits.reached(tx, attempt)))
    # When the host was stopped is on the tape: that of the replay does not count.
    journal = ForeseenJournal(store, attempt, entries, Signs(), limit)
    journal.foresee(_Foreseen(performance, part, watching, {one.asked.path: one for one in watching.exchanges}))
    return journal


@record
class _Foreseen:
    performance: Performance
    part: Part
    watching: Watching
    exchanges: Mapping[str, Exchange]  # by path

    @property
    def is_mail_taken(self) -> bool:
        """Whether somebody was there to be told of mail."""
        return any(one.session.has_last_word for one in self.exchanges.values())

    def facts(self, path: str) -> dict[str, Json] | None:
        if path not in self.exchanges:
            return None
        heard, known = self.exchanges[path].asked.heard, self.performance.likeness
        if heard is None:
            return {}
        told = Heard(known.translate(heard.text), known.translate(heard.facts))
        return Facts(told, heard.is_called_back).plain()


class ForeseenJournal(StoredJournal):
    """Of one attempt that is played. What is on record goes before what is foreseen."""

    _foreseen: _Foreseen

    def foresee(self, foreseen: _Foreseen) -> None:
        self._foreseen = foreseen

    def known(self, path: str) -> Known | None:
        known = super().known(path)
        if known is not None or (facts := self._foreseen.facts(path)) is None:
            return known
        return Known("started", 0, facts)

    def untold(self) -> tuple[Mail, ...]:
        return () if self._foreseen.is_mail_taken else super().untold()

    def _refusal(self, tx: Tx, wanted: Wanted, providers: Sequence[str]) -> MootError | None:
        """Who is asked in the order of the recording waits for nobody else."""
        found = super()._refusal(tx, wanted, providers)
        return None if isinstance(found, OverBudget) and found.is_passing else found

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        with self._foreseen.part.working():
            try:
                await super().note(done, begun)
            finally:
                self._foreseen.watching.on_record(one.path for one in done)
