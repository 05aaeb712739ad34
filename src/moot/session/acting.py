"""Makes the calls of one answer, all at once; what came of them stands in the order of the calls."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast

from moot.core import unambiguous
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tree_path import TreePath
from moot.models.model import Call, ToolSpec
from moot.session.journal import Done, Intent, Journal, Known
from moot.session.pages import Pages
from moot.session.source import Leave, Outcome, Source, Unrecorded

_NOTHING = "(empty)"  # providers refuse a text without a letter
_REFUSED = "refused"  # a fact of a call that was not made: why not
_TOGETHER = 0.05  # seconds between the ends of calls that go on one page
_LOST = Outcome(
    "OUTCOME_UNKNOWN: this was begun before moot was interrupted, and how it ended is not known "
    "(executed: unknown). Look at what it would have changed before you repeat it.",
    is_error=True,
)

_OVER = Outcome("Nothing was done: your report in the same turn has ended this.", is_error=True)


class ToolsAlike(MootError):
    """Nobody could say which of them is meant."""

    code = "TOOLS_ALIKE"

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        names = sorted(name for name, count in Counter(one.name for one in specs).items() if count > 1)
        super().__init__(f"An agent has several tools of one name: {', '.join(names)}.", "Rename what they come from.")


@record
class Offer:
    """The tools that are there in a turn."""

    specs: tuple[ToolSpec, ...] = ()
    found: Mapping[str, Source] = field(default_factory=dict[str, Source])  # by name
    letters: int = 0  # that it takes to tell a model of them
    is_last: bool = False  # only those by which a session ends


NOTHING = Offer()


class Hands:
    """The tools of one session, and the calls it may make of them in one turn."""

    def __init__(self, sources: Sequence[Source], most: int) -> None:
        self._sources = sources
        self._final = [source for source in sources if source.is_final]
        self._most = most
        self._lists: list[Sequence[ToolSpec]] = []  # of which the last offer was made
        self._offer = NOTHING

    def offer(self, *, is_last: bool) -> Offer:
        """Most sources have the same tools in every turn, and then it is the same."""
        own = self._open(is_last)
        lists = [source.specs() for source in own]
        if lists != self._lists or is_last != self._offer.is_last:
            specs = tuple(spec for one in lists for spec in one)
            found = {spec.name: source for source, one in zip(own, lists, strict=True) for spec in one}
            if len(found) < len(specs):
                raise ToolsAlike(specs)
            self._offer = Offer(specs, found, sum(one.letters for one in specs), is_last)
            self._lists = lists
        return self._offer

    def _open(self, is_last: bool) -> Sequence[Source]:
        return self._final if is_last else self._sources

    def plan(self, calls: Sequence[Call], path: TreePath, offer: Offer, *, is_cut: bool) -> "list[Planned]":
        """`path` is that of the turn, `offer` what its model was told of."""
        found = offer.found
        planned: list[Planned] = []
        for number, call in enumerate(calls, 1):
            place = path.call(number)
            if number > self._most:
                refused = f"Nothing was done: one turn may make {self._most} calls. Make the others in the next one."
                planned.append(Planned(call, place, refusal=refused))
            elif (source := found.get(call.name) or self._unoffered(call.name, offer)) is None:
                planned.append(Planned(call, place, refusal=_unknown(call.name, offer)))
            else:
                planned.append(_checked(call, place, source, is_cut))
        return planned

    def _unoffered(self, name: str, offer: Offer) -> Source | None:
        """What says why it cannot be used."""
        own = (source for source in self._open(offer.is_last) if isinstance(source, Unrecorded))
        return next((source for source in own if name in source.unoffered), None)


@record
class Planned:
    """A call that will be made, or why it is not."""

    call: Call
    path: str
    source: Source | None = None
    arguments: Mapping[str, Json] | None = None
    refusal: str = ""

    @property
    def is_recorded(self) -> bool:
        return self.source is not None and self.source.is_recorded

    @property
    def leads_on(self) -> bool:
        """To what others do, who are heard meanwhile."""
        return self.source is not None and not (self.source.is_recorded or self.source.is_final)

    @property
    def is_end(self) -> bool:
        """Of the session itself, which takes no time."""
        return self.source is not None and self.source.is_final and not self.source.is_recorded

    @property
    def is_outside(self) -> bool:
        """On record, and beyond the store: it must not be made a second time."""
        return self.source is not None and self.is_recorded and self.source.effect(self.call.name) == "outside"

    @property
    def has_effect(self) -> bool:
        """Beyond the session itself: then nobody may forget why it was made."""
        return self.source is not None and (self.is_recorded or self.source.effect(self.call.name) != "none")


def _unknown(name: str, offer: Offer) -> str:
    if offer.is_last:
        return f"Nothing was done: this is your last turn, and {name[:80]!r} is not there any more."
    return f"Nothing was done: there is no tool {name[:80]!r}. There are: {', '.join(offer.found) or 'none'}."


def _checked(call: Call, place: str, source: Source, is_cut: bool) -> Planned:
    try:
        return Planned(call, place, source, unambiguous.load_object(call.arguments))
    except MootError as error:
        why = "your answer was cut off before the call was complete" if is_cut else error.fact.rstrip(".")
        return Planned(call, place, refusal=f"Nothing was done: {why}. Make the call again.")


async def make(agent: str, planned: Sequence[Planned], journal: Journal, pages: Pages) -> list[Outcome]:
    """Their answer and what is begun are on record first. What came of them goes on the next page."""
    known = {one.path: journal.known(one.path) for one in planned}
    remembered: dict[str, Outcome] = {}
    if any(known.values()):  # in a repetition
        remembered = {one.path: told for one in planned if (told := _remembered(one, known[one.path])) is not None}
    new = [one for one in planned if one.is_recorded and known[one.path] is None]
    asked = {one.path: leave for one in new if (leave := _leave(one)) is not None}
    if any(one.has_effect for one in planned):
        await pages.turn(*(_begun(agent, one) for one in new if one.path not in asked))

    leads_on = any(one.leads_on for one in planned)
    ends: dict[str, Outcome] = {}
    if leads_on:
        ends = {one.path: await _made(one) for one in planned if one.is_end}
    is_over = any(outcome.report is not None for outcome in ends.values())

    async def made(one: Planned) -> Outcome:
        if one.path in ends:
            return ends[one.path]
        if is_over and one.leads_on:
            return _OVER
        outcome = remembered.get(one.path)
        if outcome is None and (leave := asked.get(one.path)) is not None:
            refusal = await leave()  # not begun yet: whoever waits for an answer has done nothing
            await journal.note(begun=[_begun(agent, one, refusal)])
            outcome = None if refusal is None else Outcome(refusal, is_error=True)
        if outcome is None:
            outcome = await _made(one)
        if one.is_recorded and not _is_settled(known[one.path], outcome):
            pages.add(Done(one.path, _plain(outcome)))
        return outcome

    if len(planned) == 1 and not leads_on:  # those to whom it leads have a task each, or they would stand in each other
        return [await made(planned[0])]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {group.create_task(made(one)): one for one in planned}
            if len(tasks) > 1 and any(one.is_outside for one in planned):
                await _keep(tasks, pages)
    except BaseExceptionGroup as error:
        raise error.exceptions[0] from None  # what went wrong, as it is: callers know no groups
    return [task.result() for task in tasks]


async def _keep(tasks: "Mapping[asyncio.Task[Outcome], Planned]", pages: Pages) -> None:
    """What has changed the world is on record soon after it ended, however long the others take."""
    running = set(tasks)
    while running:
        ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        if running and any(tasks[one].is_outside for one in ended):
            _, running = await asyncio.wait(running, timeout=_TOGETHER)
            if running:
                await pages.turn()


def _begun(agent: str, one: Planned, refusal: str | None = None) -> Intent:
    return Intent(one.path, "tool", one.call.name, agent, facts={} if refusal is None else {_REFUSED: refusal})


def _leave(one: Planned) -> Leave | None:
    assert one.source is not None
    assert one.arguments is not None
    return one.source.leave(one.call.name, one.arguments)


def _remembered(one: Planned, known: Known | None) -> Outcome | None:
    """What is on record of it, whatever tools there are by now; None if it is to be made."""
    if known is None:
        return None
    if known.state == "done":
        found = cast(Mapping[str, Json], known.result)
        return Outcome(str(found["text"]), bool(found["is_error"]))
    if _REFUSED in known.facts:
        return Outcome(str(known.facts[_REFUSED]), is_error=True)
    return _LOST if one.source is None or one.is_outside else None


def _is_settled(known: Known | None, outcome: Outcome) -> bool:
    """Of what was lost it stays on record that nobody knows."""
    return outcome is _LOST or (known is not None and known.state == "done")


async def _made(one: Planned) -> Outcome:
    if one.source is None or one.arguments is None:
        return Outcome(one.refusal, is_error=True)
    outcome = await one.source.call(one.call.name, one.arguments, one.path)
    return outcome if outcome.text else replace(outcome, text=_NOTHING)


def _plain(outcome: Outcome) -> Json:
    plain: dict[str, Json] = {"text": outcome.text, "is_error": outcome.is_error}
    return plain | {"mail": outcome.mail} if outcome.mail else plain
