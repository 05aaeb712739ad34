"""Makes the calls of one answer, all at once; what came of them stands in the order of the calls."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.models.model import Call, ToolSpec
from moot.session.journal import Begun, Done, Journal, below
from moot.session.pages import Pages
from moot.session.source import Leave, Outcome, Source

_NOTHING = "(empty)"  # providers refuse a text without a letter
_REFUSED = "refused"  # a fact of a call that was not made: why not


@dataclass(frozen=True, slots=True)
class Hands:
    """The tools of one session, and the calls it may make of them in one turn."""

    sources: Sequence[Source]
    most: int

    def specs(self, *, is_last: bool) -> tuple[ToolSpec, ...]:
        return tuple(spec for source in self._open(is_last) for spec in source.specs())

    def _open(self, is_last: bool) -> list[Source]:
        return [source for source in self.sources if source.is_final or not is_last]

    def plan(self, calls: Sequence[Call], path: str, *, is_last: bool, is_cut: bool) -> "list[Planned]":
        found = {spec.name: source for source in self._open(is_last) for spec in source.specs()}
        planned: list[Planned] = []
        for number, call in enumerate(calls, 1):
            place = below(path, f"c{number}")
            if number > self.most:
                refused = f"Nothing was done: one turn may make {self.most} calls. Make the others in the next one."
                planned.append(Planned(call, place, refusal=refused))
            elif (source := found.get(call.name)) is None:
                planned.append(Planned(call, place, refusal=_unknown(call.name, found, is_last)))
            else:
                planned.append(_checked(call, place, source, is_cut))
        return planned


@dataclass(frozen=True, slots=True)
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
    def has_effect(self) -> bool:
        """Beyond the session itself: then nobody may forget why it was made."""
        return self.source is not None and (self.is_recorded or self.source.effect(self.call.name) != "none")


def _unknown(name: str, found: Mapping[str, Source], is_last: bool) -> str:
    if is_last:
        return f"Nothing was done: this is your last turn, and {name[:80]!r} is not there any more."
    return f"Nothing was done: there is no tool {name[:80]!r}. There are: {', '.join(found) or 'none'}."


def _checked(call: Call, place: str, source: Source, is_cut: bool) -> Planned:
    try:
        return Planned(call, place, source, json.load_object(call.arguments))
    except MootError as error:
        why = "your answer was cut off before the call was complete" if is_cut else error.fact.rstrip(".")
        return Planned(call, place, refusal=f"Nothing was done: {why}. Make the call again.")


async def make(agent: str, planned: Sequence[Planned], journal: Journal, pages: Pages) -> list[Outcome]:
    """Their answer and what is begun are on record first. What came of them goes on the next page."""
    fresh = [one for one in planned if one.is_recorded and not _is_done(one, journal)]
    lost = {one.path for one in fresh if _is_lost(one, journal)}
    new = [one for one in fresh if journal.known(one.path) is None]
    asked = {one.path: leave for one in new if (leave := _leave(one)) is not None}
    if any(one.has_effect for one in planned):
        await pages.turn(*(_begun(agent, one) for one in new if one.path not in asked))

    async def made(one: Planned) -> Outcome:
        if (leave := asked.get(one.path)) is not None:  # not begun yet: whoever waits for an answer has done nothing
            await journal.note(begun=[_begun(agent, one, await leave())])
        return await _made(one, journal, is_lost=one.path in lost)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(made(one)) for one in planned]
    except BaseExceptionGroup as error:
        raise error.exceptions[0] from None  # what went wrong, as it is: callers know no groups
    outcomes = [task.result() for task in tasks]
    ended = {one.path: outcome for one, outcome in zip(planned, outcomes, strict=True)}
    # Of what was lost it stays on record that nobody knows.
    pages.add(*(Done(one.path, _plain(ended[one.path])) for one in fresh if one.path not in lost))
    return outcomes


def _begun(agent: str, one: Planned, refusal: str | None = None) -> Begun:
    return Begun(one.path, "tool", one.call.name, agent, facts={} if refusal is None else {_REFUSED: refusal})


def _leave(one: Planned) -> Leave | None:
    assert one.source is not None
    assert one.arguments is not None
    return one.source.leave(one.call.name, one.arguments)


def _is_done(one: Planned, journal: Journal) -> bool:
    known = journal.known(one.path)
    return known is not None and known.state == "done"


def _is_lost(one: Planned, journal: Journal) -> bool:
    """Begun before, beyond the store, and nobody knows how it ended."""
    assert one.source is not None
    known = journal.known(one.path)
    return known is not None and _REFUSED not in known.facts and one.source.effect(one.call.name) == "outside"


async def _made(one: Planned, journal: Journal, *, is_lost: bool) -> Outcome:
    if one.source is None or one.arguments is None:
        return Outcome(one.refusal, is_error=True)
    known = journal.known(one.path) if one.is_recorded else None
    if known is not None and known.state == "done":
        found = cast(Mapping[str, Json], known.result)
        return Outcome(str(found["text"]), bool(found["is_error"]))
    if known is not None and _REFUSED in known.facts:
        return Outcome(str(known.facts[_REFUSED]), is_error=True)
    if is_lost:
        return Outcome(
            "OUTCOME_UNKNOWN: this was begun before moot was interrupted, and how it ended is not known "
            "(executed: unknown). Look at what it would have changed before you repeat it.",
            is_error=True,
        )
    outcome = await one.source.call(one.call.name, one.arguments, one.path)
    return outcome if outcome.text else replace(outcome, text=_NOTHING)


def _plain(outcome: Outcome) -> Json:
    plain: dict[str, Json] = {"text": outcome.text, "is_error": outcome.is_error}
    return plain | {"mail": outcome.mail} if outcome.mail else plain
