"""Jobs are done when it is their turn, whatever commits at the same moment."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from moot.board import boards, laying, tasks
from moot.board.boards import NewBoard
from moot.board.plans import Plan, Planned
from moot.core.caller import SYSTEM
from moot.core.ids import BoardId, HostId, InstanceName
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, NewJob
from moot.ledger import stops
from moot.process import identity
from moot.registry import agents, attempts, hosts, runs
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.runner import neighbours
from moot.runner.reactions.begin_talk import KICKOFF
from moot.runner.reactions.wake_agents import ATTEMPT, attempt_key
from moot.store import feed, streams
from moot.store.store import Store
from moot.taping.replaying import gates
from moot.taping.replaying.conducting import Conductor
from moot.taping.replaying.performance import Performance
from moot.taping.tape import Begin, End, Line, Outcome, Said, Tape
from tests.runner.team import Team, gather
from tests.taping.test_score import HEADER, Ids, happened

SECONDS = 10.0
MADE = Ids()
ONE = MADE.new("at")
STOPPED = Said(9, MADE.new("ms"), "system", "system", "ann is stopped ($1).", (), None)
WORDS = Said(9, MADE.new("ms"), "system", "message", "@ann begin", ("ann",), None)


class Between:
    """A store in which something else is committed behind the first write."""

    def __init__(self, store: Store, also: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._also: Callable[[], Awaitable[None]] | None = also

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, change: Callable[[Tx], Any], *, caller: Any) -> Any:
        written = await self._store.write(change, caller=caller)
        also, self._also = self._also, None
        if also is not None:
            await also()
        return written


class Scene:
    """A run with one agent, of which this much was recorded."""

    def __init__(self, team: Team, run: Run, host: HostId, lines: tuple[Line, ...]) -> None:
        self.team, self.run, self.host, self.store = team, run, host, team.store
        self.performance = Performance(Tape(HEADER, lines, Outcome(0, "done")), InstanceName("default"))

    async def put_off(self, key: str, kind: str, subject: str) -> None:
        """As the gate has left it, when it was not its turn."""

        def change(tx: Tx) -> None:
            jobs.add(tx, NewJob(key, kind, self.run.stream, subject, run_at=tx.now + gates.PUT_OFF))

        await self.store.write(change, caller=SYSTEM)

    async def put_off_ann(self) -> None:
        ann = await self.store.read(lambda tx: agents.named(tx, self.run.stream, "ann"))
        await self.put_off(attempt_key(ann), ATTEMPT, ann.id)

    @asynccontextmanager
    async def conducted(self, store: Store | None = None) -> AsyncGenerator[None]:
        self.performance.store.set_result(self.store)
        conductor = asyncio.ensure_future(Conductor(self.performance, store or self.store, self.run).conduct())
        try:
            async with asyncio.timeout(SECONDS):
                yield
        finally:
            conductor.cancel()

    async def until_due(self) -> None:
        await self.team.until(lambda tx: all(job.run_at <= tx.now for job in jobs.live(tx, self.run.stream)))


async def scene(store: Store, *lines: Line) -> Scene:
    team = await gather(store, {"ann": []})

    def change(tx: Tx) -> tuple[Run, HostId]:
        host = hosts.register(tx, NewHost(neighbours.machine(), str(identity.current()), ("work", "run")))
        run = runs.start(tx, team.instance, NewRun("w", "w.yaml", "run", {}, {}, host))
        runs.enter(tx, run, "talk")
        return runs.get(tx, run.id), host

    run, host = await store.write(change, caller=SYSTEM)
    await store.write(lambda tx: streams.reacted(tx, run.stream, feed.end(tx, run.stream)[run.stream]), caller=SYSTEM)
    return Scene(team, run, host, lines)


async def test_who_is_put_off_in_the_moment_in_which_its_turn_comes_begins(store: Store) -> None:
    found = await scene(store, begin := Begin(ONE, "ann", 1, ()), happened(1, attempts.STARTED, ONE))
    async with found.conducted(cast(Store, Between(store, found.put_off_ann))):
        await found.team.until(lambda tx: bool(jobs.live(tx, found.run.stream)))
        await found.until_due()
    assert (found.performance.turns.current, found.performance.drifts.facts) == (begin, [])


async def test_moot_speaks_when_it_did_though_it_could_before(store: Store) -> None:
    end, words = End(ONE, "ended"), WORDS
    found = await scene(store, end, happened(3, attempts.SUCCEEDED, ONE), words)
    turns = found.performance.turns
    await store.write(
        lambda tx: jobs.add(tx, NewJob("kickoff", KICKOFF, found.run.stream, found.run.id)), caller=SYSTEM
    )

    def take(tx: Tx) -> list[bool]:
        taken = jobs.take(tx, Appetite(found.host, others=1))
        return [gates.may_do(found.performance, tx, job) for job in taken]

    assert (turns.current, await store.write(take, caller=SYSTEM)) == (end, [False])
    turns.done(end)
    async with found.conducted():
        await found.until_due()
    assert turns.current is words
    assert await store.write(take, caller=SYSTEM) == [True]


async def test_who_has_used_up_its_own_comes_to_be_stopped_where_that_was_told(store: Store) -> None:
    found = await scene(store, STOPPED)
    ann = await store.read(lambda tx: agents.named(tx, found.run.stream, "ann"))
    await store.write(lambda tx: stops.reach(tx, found.run.id, "$1", owner=ann.id, is_final=True), caller=SYSTEM)
    await found.put_off_ann()
    async with found.conducted():
        await found.until_due()
    assert found.performance.turns.current is STOPPED


async def test_a_task_goes_to_whom_it_went_though_another_comes_before_it_now(store: Store) -> None:
    words = Said(9, MADE.new("ms"), "system", "task", "[TASK:tk_1] second\n\nDo it.", ("ann",), None)
    found = await scene(store, words)

    def lay(tx: Tx) -> None:
        new = NewBoard(found.run.instance, found.run.stream, "w", "file", "", created_by="system")
        board = boards.create(tx, replace(new, id=BoardId(found.run.id)))
        plan = Plan(tasks=(Planned("first", "Do it."), Planned("second", "Do it.")))
        laying.set_plan(tx, board.id, plan)
        streams.reacted(tx, found.run.stream, feed.end(tx, found.run.stream)[found.run.stream])

    await store.write(lay, caller=SYSTEM)
    async with found.conducted():
        await found.team.until(lambda tx: bool(tasks.held(tx, BoardId(found.run.id))))
    held = await store.read(lambda tx: tasks.held(tx, BoardId(found.run.id)))
    assert [one.name for one in held] == ["second"]
