"""Calls of one answer: what is on record is told whatever tools there are, and each is on record soon after its end."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from moot.core.json import Json
from moot.core.tool import Effect
from moot.models.model import ToolSpec
from moot.session.journal import Done, Intent, Memory
from moot.session.source import Leave, Outcome
from tests.session.staging import Hall, agent, calls, reports


@dataclass
class Outside:
    """Tools that change the world; those with a gate wait there."""

    names: Sequence[str] = ("send",)
    gates: Mapping[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    made: list[str] = field(default_factory=list[str])
    is_recorded = True
    is_final = False

    def specs(self) -> Sequence[ToolSpec]:
        return tuple(ToolSpec(name, "Does something.", {"type": "object"}) for name in self.names)

    def effect(self, name: str) -> Effect:
        return "outside"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        if name in self.gates:
            await self.gates[name].wait()
        self.made.append(name)
        return Outcome(f"did {name}")


class Watched(Memory):
    """Tells what goes on each page."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[list[str]] = []
        self.ended: dict[str, asyncio.Event] = {path: asyncio.Event() for path in ("t1/c1", "t1/c2", "t1/c3")}

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        await super().note(done, begun)
        self.pages.append([*(f"-{one.path}" for one in done), *(f"+{one.path}" for one in begun)])
        for one in done:
            if one.path in self.ended:
                self.ended[one.path].set()


class Interrupted(Exception):
    """The process is gone."""


class Cut(Memory):
    """Cut off after the page on which something ends or begins."""

    def __init__(self, last: str) -> None:
        super().__init__()
        self._last = last

    async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
        await super().note(done, begun)
        if self._last in (*(f"-{one.path}" for one in done), *(f"+{one.path}" for one in begun)):
            self._last = ""
            raise Interrupted


SENDER = agent("a", calls("send"), reports("over"))


async def told_after(last: str, tools: Sequence[str]) -> str:
    """What the model is told of its call, if moot is killed after that page, and there are other tools then."""
    journal = Cut(last)
    with pytest.raises(Interrupted):
        await Hall(journal, sources=(Outside(),)).report(SENDER)
    again = Hall(journal, sources=(Outside(tools),))
    assert (await again.report(SENDER)).text == "over"
    return again.told("a")


@pytest.mark.parametrize("tools", [(), ("post",)], ids=["gone", "renamed"])
async def test_what_is_on_record_is_told_though_the_tool_is_gone(tools: Sequence[str]) -> None:
    assert await told_after("-t1/c1", tools) == "did send"


@pytest.mark.parametrize("tools", [(), ("post",)], ids=["gone", "renamed"])
async def test_what_was_begun_stays_unknown_though_the_tool_is_gone(tools: Sequence[str]) -> None:
    assert (await told_after("+t1/c1", tools)).startswith("OUTCOME_UNKNOWN")


async def test_what_has_ended_is_on_record_though_others_still_work() -> None:
    journal, gates = Watched(), {"slow": asyncio.Event()}
    three: Json = {"calls": [{"slow": {}}, {"send": {}}, {"send": {}}]}
    hall = Hall(journal, sources=(Outside(("send", "slow"), gates),))
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        playing = group.create_task(hall.report(agent("a", three, reports("over"))))
        await journal.ended["t1/c2"].wait()
        assert journal.pages[-1] == ["-t1/c2", "-t1/c3"]
        known = journal.known("t1/c1")
        assert known is not None
        assert known.state == "started"
        gates["slow"].set()
    assert playing.result().text == "over"
    assert hall.told("a", 2).splitlines() == ["did slow", "did send", "did send"]


async def test_calls_that_end_together_take_two_pages() -> None:
    journal = Watched()
    three: Json = {"calls": [{"send": {}}, {"send": {}}, {"send": {}}]}
    await Hall(journal, sources=(Outside(),)).report(agent("a", three, reports("over")))
    begun, ended = ["+t1/c1", "+t1/c2", "+t1/c3"], ["-t1/c1", "-t1/c2", "-t1/c3"]
    assert journal.pages[:3] == [["+", "+t1/m"], ["-t1/m", *begun], [*ended, "+t2/m"]]
