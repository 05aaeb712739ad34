"""How long does it take to set a plan of 100,000 tasks, beside inserting its bare rows in one transaction?"""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import apsw

from bench import boards, loops
from bench.boards import LANES, Desk
from bench.harness import Figure, Scale, interleaved
from bench.place import disk
from moot.board import applying, laying
from moot.core.caller import SYSTEM

SIZE, QUICK_SIZE = 100_000, 20_000
_ROUNDS = 3
_EDGE = "insert into task_edges (task, needs, kind) values (?, ?, 'blocks')"
_TASK = """
insert into tasks (
  id, board, stream, name, folded, description, rank, capabilities, files, checks, status, blockers, fence, plan,
  context, outcome_detail, created_at, updated_at
) values (?1, ?2, ?3, ?4, ?4, ?5, ?6, '[]', '[]', '[]', 'pending', ?7, 0, '{}', '{}', '{}', ?8, ?8)
"""


def measure(scale: Scale, folder: Path) -> list[Figure]:
    size = QUICK_SIZE if scale.is_quick else SIZE
    plan = boards.plan(size)
    few = Scale(min(scale.rounds, _ROUNDS), scale.seconds, scale.longest, scale.is_quick)
    fresh = count()
    with loops.runner() as runner:

        def moot() -> float:
            place = folder / f"moot{next(fresh)}"
            desk = runner.run(_unplanned(place))
            started = time.monotonic()
            laid = runner.run(applying.apply(desk.store, desk.board.id, plan, SYSTEM))
            seconds = time.monotonic() - started
            assert laid.added == size
            runner.run(desk.store.close())
            return seconds

        def raw() -> float:
            place = folder / f"raw{next(fresh)}"
            desk = runner.run(_unplanned(place))
            seconds = _insert(place / "moot.db", desk, size)
            runner.run(desk.store.close())
            return seconds

        rounds = interleaved(few, moot=moot, raw=raw, disk=disk(folder, scale.seconds / 4))
    facts = (
        f"moot {rounds.middle('moot'):.2f} s in pieces of {applying.PIECE:,} rows; raw {rounds.middle('raw'):.2f} s",
        f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
    )
    question = f"setting a plan of {size:,} tasks, times the time of its bare rows"
    return [Figure(question, rounds.ratio("moot", "raw"), 10, "at most", facts)]


async def _unplanned(folder: Path) -> Desk:
    return await boards.open_file(folder)


def _insert(file: Path, desk: Desk, size: int) -> float:
    connection = apsw.Connection(str(file))
    connection.pragma("synchronous", "full")
    started = time.monotonic()
    with connection:
        connection.executemany(_TASK, _tasks(desk, size))
        connection.executemany(_EDGE, ((_id(number), _id(number - LANES)) for number in range(LANES, size)))
    seconds = time.monotonic() - started
    connection.close()
    return seconds


def _tasks(desk: Desk, size: int) -> Iterator[tuple[str | int, ...]]:
    now = time.time_ns() // 1000
    for number in range(size):
        words = f"Do what number {number} says."
        name, blockers = f"task {number}", int(number >= LANES)
        yield _id(number), desk.board.id, desk.board.stream, name, words, number, blockers, now


def _id(number: int) -> str:
    return f"tk_{number:017d}"  # as long as moot's


assert laying.MOST_AT_ONCE < QUICK_SIZE
