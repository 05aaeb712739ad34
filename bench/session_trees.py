"""The scenarios as moot plays them: agents with a model that answers at once, in memory or as real attempts."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from pathlib import Path

from pydantic import BaseModel

from bench import loops
from bench.peers import script
from bench.peers.script import Scenario
from moot.backends.backend import Access, Assignment, Briefing, Ended, Manner, Progress
from moot.core.caller import SYSTEM
from moot.core.ids import AttemptId, HostId, StreamId
from moot.core.json import Json
from moot.core.teams import Team
from moot.core.tool import Call, Tool, ToolAnswer
from moot.core.tx import Tx
from moot.models import endpoints, reserving
from moot.models import model as models
from moot.models.model import Answer, Model, Request, Usage
from moot.process import identity
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.instances import Instance
from moot.runner import idle, neighbours
from moot.runner.api_agents import Pricing, SessionBackend
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host
from moot.runner.worker import Worker
from moot.session.agent import Agent
from moot.store import sqlite
from moot.store.sqlite import SqliteStore
from moot.tools import talk
from moot.tools.talk import Words
from moot.workflow import stored
from moot.workflow.patterns import ALONE, Patterns
from moot.workflow.workflow import AgentDefinition

_MODEL = "anthropic/claude-sonnet-4-5"
_ENVIRON = {"ANTHROPIC_API_KEY": "none"}
_USED = Usage(1_000, 50, cost=0.00375)
_MOST_TURNS = 10_000


def cast(scenario: Scenario) -> tuple[AgentDefinition, ...]:
    """Everybody in it, whoever is asked first."""
    match scenario:
        case "tools":
            return (_agent(script.ALONE),)
        case "chain":
            following = (*script.STAGES[1:], None)
            return tuple(
                _agent(one, Patterns(handoff=next)) for one, next in zip(script.STAGES, following, strict=True)
            )
        case "advisors":
            return (_agent(script.ALONE, Patterns(advisors=script.ADVISORS)), *map(_agent, script.ADVISORS))
        case "chat":
            team = Patterns(team=Team(script.MEMBERS, script.BOSS, _MOST_TURNS, _MOST_TURNS))
            return (_agent(script.ALONE, team), *map(_agent, script.CHATTERS))


def _agent(name: str, patterns: Patterns = ALONE) -> AgentDefinition:
    return AgentDefinition(name, "api", _MODEL, is_chatty=True, patterns=patterns, max_turns=_MOST_TURNS)


@dataclass(frozen=True, slots=True)
class Shop:
    """Models that answer at once, at the price of real ones."""

    scenario: Scenario
    turns: int = script.TOOL_TURNS  # with a tool
    moments: list[float] = field(default_factory=list[float])  # of CPU time, in which a model was asked

    def open(self, agent: Agent, name: str) -> AbstractAsyncContextManager[Model]:
        return nullcontext(_Model(self._answers(agent), self.moments))

    def price(self, agent: Agent, name: str) -> Pricing:
        return partial(reserving.price, endpoints.find(name, _ENVIRON))

    def _answers(self, agent: Agent) -> Iterator[Answer]:
        if self.scenario == "tools":
            yield from repeat(_LOOKS, self.turns)
            yield _SAYS
        elif self.scenario == "chat" and agent.name == script.BOSS:
            yield from repeat(_BROADCASTS, script.CYCLES - 1)
            yield _REPORTS
        elif self.scenario == "chat":
            yield from repeat(_SAYS, script.CYCLES)
        else:
            yield _REPORTS


def _calls(name: str, arguments: Mapping[str, str]) -> Answer:
    return Answer("", (models.Call("call", name, json.dumps(dict(arguments))),), "tools", _USED)


_SAYS = Answer(script.SAID, usage=_USED)
_LOOKS = _calls(script.TOOL, script.ARGUMENTS)
_BROADCASTS = _calls("team_broadcast", {"message": script.SAID})
_REPORTS = _calls("final_report", {"report": script.SAID})


@dataclass(frozen=True, slots=True)
class _Model:
    answers: Iterator[Answer]
    moments: list[float]

    async def ask(self, request: Request) -> AsyncGenerator[Answer]:
        self.moments.append(time.process_time())
        yield next(self.answers)


class _Place(BaseModel):
    place: str


class _Found(BaseModel):
    text: str


async def _look(call: Call, place: _Place) -> _Found:
    return _Found(text=script.FOUND)


_TOOL = Tool(script.TOOL, "bench", "Look at a place.", "none", _Place, _Found, _look, lambda found: found.text)


class Toolbox:
    """One tool that answers at once."""

    def offered(self) -> tuple[Tool, ...]:
        return (_TOOL,)

    async def call(self, name: str, arguments: Mapping[str, Json], path: str = "") -> ToolAnswer:
        return ToolAnswer(script.FOUND, {})

    def recall(self, name: str, arguments: Mapping[str, Json]) -> None: ...


@dataclass(slots=True)
class Timed:
    """Plays a tree, and keeps how long that took from its first step to its last. What it is asked is found out before:
    the bare loop is given it, too."""

    shop: Shop
    batches: Sequence[object] = ()  # the commits of this process so far
    cpu: float = 0.0
    wall: float = 0.0
    commits: int = 0
    ended: list[Ended] = field(default_factory=list[Ended])

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        given = await assignment.brief()

        async def brief() -> Briefing:
            return given

        assignment = replace(assignment, brief=brief)
        before, cpu, wall = len(self.batches), time.process_time(), time.monotonic()
        async with aclosing(SessionBackend(self.shop).run(assignment)) as running:
            async for progress in running:
                if isinstance(progress, Ended):
                    self.cpu += time.process_time() - cpu
                    self.wall += time.monotonic() - wall
                    self.commits += len(self.batches) - before
                    self.ended.append(progress)
                yield progress

    def check(self) -> None:
        """Who failed was quick for the wrong reason."""
        wrong = [one for one in self.ended if one.failure is not None or one.text != script.SAID]
        if wrong or not self.ended:
            raise RuntimeError(f"moot did not play its part: {wrong[:1]}")


def in_memory(scenario: Scenario, repeats: int) -> tuple[float, float]:
    """CPU and wall seconds of all repeats."""
    timed = Timed(Shop(scenario))

    async def play() -> None:
        for _ in range(repeats):
            async for _ in timed.run(_assignment(scenario)):
                pass

    loops.run(play())
    timed.check()
    return timed.cpu, timed.wall


def _assignment(scenario: Scenario) -> Assignment:
    first, *others = cast(scenario)

    async def brief() -> Briefing:
        return Briefing(script.PROMPT)

    async def more() -> tuple[()]:
        await asyncio.Event().wait()
        return ()

    return Assignment(
        agent=first.name,
        instance="bench",
        attempt=AttemptId("at_bench"),
        settings=stored.settings(first, others),
        manner=Manner(_MODEL),
        inbox=(),
        number=1,
        toolbox=Toolbox(),
        brief=brief,
        more=more,
        access=_ACCESS,
        workspace=Path(),
        folder=Path(),
    )


_ACCESS = Access("", "", lambda: False)


def as_attempts(
    scenario: Scenario,
    repeats: int,
    folder: Path,
    batches: Sequence[object] = (),
    *,
    turns: int = script.TOOL_TURNS,
) -> Timed:
    """So many attempts of a host, one after the other, with everything on record as in daily life."""
    timed = Timed(Shop(scenario, turns), batches)
    loops.run(_attempt(timed, repeats, folder))
    timed.check()
    return timed


async def _attempt(timed: Timed, repeats: int, folder: Path) -> None:
    store = sqlite.open_file(folder / "moot.db", create=True)
    first, *others = cast(timed.shop.scenario)

    def gather(tx: Tx) -> Instance:
        instance = instances.ensure(tx, "bench")
        agents.ensure(tx, instance, NewAgent(first.name, backend="api", settings=stored.settings(first, others)))
        return instance

    try:
        instance = await store.write(gather, caller=SYSTEM)
        async with _running(store, timed):
            for number in range(1, repeats + 1):
                words = Words(f"@{first.name} {script.PROMPT}")
                await store.write(lambda tx, words=words: talk.say(tx, instance, None, words), caller=SYSTEM)
                await _until_ended(store, instance.stream, timed, number)
    finally:
        await store.close()


@asynccontextmanager
async def _running(store: SqliteStore, timed: Timed) -> AsyncGenerator[None]:
    @asynccontextmanager
    async def equip(begun: Begun) -> AsyncGenerator[Kit]:
        yield Kit(Toolbox(), _ACCESS, Path(), Path())

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {"attempt": AttemptWorker(store, host, {"api": timed}, equip)}

    host = Host(store, NewHost(neighbours.machine(), str(identity.current()), ("react", "work", "run")), workers)
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield
        finally:
            host.stop(now=True)


async def _until_ended(store: SqliteStore, stream: StreamId, timed: Timed, count: int) -> None:
    """Until as many attempts have ended, and their ends are on record."""
    async with asyncio.timeout(120):
        with store.listen() as signal:
            while len(timed.ended) < count or await store.read(lambda tx: not idle.is_idle(tx, stream)):
                signal.clear()
                await signal.wait(0.5)
