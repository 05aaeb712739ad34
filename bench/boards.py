"""Boards for the bench: plans in lanes, where each task needs the one before it in its lane."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import psycopg

from moot.board import boards, claims, progress, tasks
from moot.board.boards import Board, NewBoard
from moot.board.claims import Holder, Taken
from moot.board.plans import Need, Plan, Planned
from moot.board.progress import Result
from moot.core.caller import SYSTEM, Caller
from moot.core.ids import AgentId, InstanceName, TaskId
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.store import sqlite
from moot.store.store import Store

LANES = 104  # which eight workers can share evenly
INSTANCE = InstanceName("bench")
OUTCOME = "The parser keeps the last line; three tests added, all green."
_CHUNK = 50_000

_TASKS = """
with recursive number(n) as (select :start union all select n + 1 from number where n + 1 < :end)
insert into tasks (
  id, board, stream, name, folded, description, rank, capabilities, files, checks, status, blockers, fence, plan,
  context, outcome, outcome_detail, done_by, created_at, started_at, ended_at, updated_at
)
select printf('%s_%09d', :prefix, n), :board, :stream, 'task ' || n, 'task ' || n, 'Do what number ' || n || ' says.',
  n, '[]', '[]', '[]', iif(n < :done, 'completed', 'pending'), iif(n < :done + :lanes, 0, 1), iif(n < :done, 1, 0),
  '{}', '{}', iif(n < :done, :outcome, null), '{}', iif(n < :done, 'ag_past', null), :at, iif(n < :done, :at, null),
  iif(n < :done, :at + n, null), :at
from number
"""
_EDGES = """
with recursive number(n) as (select :start union all select n + 1 from number where n + 1 < :end)
insert into task_edges (task, needs, kind)
select printf('%s_%09d', :prefix, n), printf('%s_%09d', :prefix, n - :lanes), 'blocks' from number where n >= :lanes
"""
_TASKS_ON_POSTGRES = """
insert into tasks (
  id, board, stream, name, folded, description, rank, capabilities, files, checks, status, blockers, fence, plan,
  context, outcome_detail, created_at, updated_at
)
select %(prefix)s || '_' || lpad(n::text, 9, '0'), %(board)s, %(stream)s, 'task ' || n, 'task ' || n,
  'Do what number ' || n || ' says.', n, '[]', '[]', '[]', 'pending', case when n < %(lanes)s then 0 else 1 end, 0,
  '{}', '{}', '{}', %(at)s, %(at)s
from generate_series(0, %(last)s::int) as number(n)
"""
_EDGES_ON_POSTGRES = """
insert into task_edges (task, needs, kind)
select %(prefix)s || '_' || lpad(n::text, 9, '0'), %(prefix)s || '_' || lpad((n - %(lanes)s)::text, 9, '0'), 'blocks'
from generate_series(%(lanes)s::int, %(last)s::int) as number(n)
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """An open store with a board in it, and somebody who works there."""

    store: Store
    board: Board
    worker: Holder

    @property
    def caller(self) -> Caller:
        return Caller(self.worker.name, "member", INSTANCE, agent=self.worker.agent)

    async def claim(self, id: TaskId) -> None:
        found = await self.store.write(
            lambda tx: claims.claim(tx, id, self.worker, self.board.stream), caller=self.caller
        )
        assert isinstance(found, Taken), found

    async def complete(self, id: TaskId) -> None:
        def change(tx: Tx) -> None:
            held = claims.hold(tx, id, self.worker.hand, self.board.stream)
            progress.complete(tx, held, Result(OUTCOME, by=self.worker.agent))

        await self.store.write(change, caller=self.caller)

    async def work_for(self, ids: Iterator[TaskId], seconds: float) -> float:
        """Seconds for one task, claimed and completed, each in a commit of its own."""
        count, started = 0, time.monotonic()
        while time.monotonic() - started < seconds:
            id = next(ids)
            await self.claim(id)
            await self.complete(id)
            count += 1
        return (time.monotonic() - started) / count


async def open_desk(store: Store, instance: InstanceName = INSTANCE) -> Desk:
    def join(tx: Tx) -> Desk:
        there = instances.ensure(tx, instance)
        agent = agents.ensure(tx, there, NewAgent("worker"))
        board = boards.create(tx, NewBoard(there.name, there.stream, "bench", "prompt", "", max_parallel=LANES))
        boards.turn(tx, board, "ready")
        return Desk(store, board, Holder(AgentId(agent.id), agent.name, agent.id))

    return await store.write(join, caller=SYSTEM)


async def open_file(folder: Path) -> Desk:
    """A store durable as in daily life."""
    return await open_desk(sqlite.open_file(folder / "moot.db", create=True))


def fill(file: Path, desk: Desk, size: int, done: int = 0) -> None:
    """So many tasks of which the first are done, written without durability."""
    connection = apsw.Connection(str(file))
    connection.pragma("synchronous", "off")
    facts = facts_of(desk, done)
    for start in range(0, size, _CHUNK):
        with connection:
            for statement in (_TASKS, _EDGES):
                connection.execute(statement, facts | {"start": start, "end": min(start + _CHUNK, size)})
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


def fill_postgres(connection: "psycopg.Connection[tuple[object, ...]]", desk: Desk, size: int) -> None:
    """The same in the schema of PostgreSQL that the connection is in, with nothing done."""
    facts = facts_of(desk, 0) | {"last": size - 1}
    for statement in (_TASKS_ON_POSTGRES, _EDGES_ON_POSTGRES):
        connection.execute(statement, facts)


def facts_of(desk: Desk, done: int) -> dict[str, str | int]:
    return {
        "prefix": f"tk_{desk.board.id}",
        "board": desk.board.id,
        "stream": desk.board.stream,
        "lanes": LANES,
        "done": done,
        "outcome": OUTCOME,
        "at": 1_700_000_000_000_000,
    }


def ids(desk: Desk, start: int) -> Iterator[TaskId]:
    """Tasks in the order in which they can be claimed, from a number."""
    number = start
    while True:
        yield task_id(desk.board.id, number)
        number += 1


def task_id(board: str, number: int) -> TaskId:
    return TaskId(f"tk_{board}_{number:09d}")


def plan(size: int) -> Plan:
    return Plan("bench", "in lanes", tuple(_planned(number) for number in range(size)))


def _planned(number: int) -> Planned:
    needs = (Need(f"task {number - LANES}"),) if number >= LANES else ()
    return Planned(f"task {number}", f"Do what number {number} says.", needs)


async def ready(desk: Desk, limit: int) -> list[TaskId]:
    return [one.id for one in await desk.store.read(lambda tx: tasks.available(tx, desk.board.id, limit))]
