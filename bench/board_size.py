"""Do the next tasks, and one that is claimed and completed, cost more in a plan of a million?

Half of each plan is done. Both are measured as tools are called, in CPU time: the disk is not the question.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import boards, loops
from bench.boards import Desk
from bench.harness import Figure, Scale, interleaved, micros
from moot.core.ids import TaskId
from moot.core.json import Json
from moot.tools import dispatch

SMALL, BIG, QUICK_BIG = 1_000, 1_000_000, 100_000
LOOKS, TASKS = 50, 20


@dataclass(frozen=True, slots=True)
class Plan:
    desk: Desk
    ids: Iterator[TaskId]


def measure(scale: Scale, folder: Path) -> list[Figure]:
    size = QUICK_BIG if scale.is_quick else BIG
    with loops.runner() as runner:
        small = runner.run(_build(folder / "small", SMALL))
        big = runner.run(_build(folder / "big", size))
        rounds = interleaved(
            scale,
            small=lambda: runner.run(_look(small)),
            big=lambda: runner.run(_look(big)),
            small_work=lambda: runner.run(_work(small)),
            big_work=lambda: runner.run(_work(big)),
        )
        for one in (small, big):
            runner.run(one.desk.store.close())

    def figure(what: str, small: str, big: str) -> Figure:
        facts = (f"{micros(rounds.middle(big))} against {micros(rounds.middle(small))} of CPU; {rounds.count} rounds",)
        return Figure(f"{what}, at {size:,} tasks, times {SMALL:,}", rounds.ratio(big, small), 1.2, "at most", facts)

    return [
        figure("workflow_next_tasks", "small", "big"),
        figure("task_claim and task_update_status", "small_work", "big_work"),
    ]


async def _build(folder: Path, size: int) -> Plan:
    desk = await boards.open_file(folder)
    await asyncio.to_thread(boards.fill, folder / "moot.db", desk, size, size // 2)
    return Plan(desk, boards.ids(desk, size // 2))


async def _call(desk: Desk, tool: str, arguments: dict[str, Json]) -> str:
    answer = await dispatch.perform(desk.store, desk.caller, tool, arguments)
    assert not answer.is_error, answer.text
    return answer.text


async def _look(plan: Plan) -> float:
    cpu = time.process_time()
    for _ in range(LOOKS):
        text = await _call(plan.desk, "workflow_next_tasks", {"workflow_id": plan.desk.board.id})
        assert text.count('"name"') == 10, text
    return (time.process_time() - cpu) / LOOKS


async def _work(plan: Plan) -> float:
    cpu = time.process_time()
    for _ in range(TASKS):
        id = next(plan.ids)
        await _call(plan.desk, "task_claim", {"task_id": id})
        await _call(plan.desk, "task_update_status", {"id": id, "status": "completed", "outcome": boards.OUTCOME})
    return (time.process_time() - cpu) / TASKS
