"""How much CPU does it take to load what is known of a task with 10,000 checkpoints in a plan of 10,000 tasks?"""

import time
from pathlib import Path

import apsw

from bench import boards, loops
from bench.boards import Desk
from bench.harness import Figure, Scale, interleaved, millis
from moot.core.ids import TaskId
from moot.core.json import Json
from moot.tools import dispatch

TASKS = CHECKPOINTS = 10_000
BAR = 0.020
LOOKS = 5
_NOTES = """
with recursive number(n) as (select 1 union all select n + 1 from number where n < :count)
insert into checkpoints (task, number, id, type, summary, detail, files, agent, at)
select :task, n, printf('cp_%09d', n), 'progress', 'Step ' || n || ' is done: the parser keeps the last line.',
  '{"tests":"green","left":["lexer","printer"]}', '["src/parser.py","tests/test_parser.py"]', 'ag_past', :at + n
from number
"""


def measure(scale: Scale, folder: Path) -> list[Figure]:
    with loops.runner() as runner:
        desk = runner.run(boards.open_file(folder))
        boards.fill(folder / "moot.db", desk, TASKS, TASKS // 2)
        task = next(boards.ids(desk, TASKS // 2))
        _note(folder / "moot.db", task)
        rounds = interleaved(
            scale,
            recent=lambda: runner.run(_load(desk, task, {})),
            all=lambda: runner.run(_load(desk, task, {"include": {"all_checkpoints": True}})),
        )
        runner.run(desk.store.close())

    def figure(what: str, side: str) -> Figure:
        seconds = rounds.middle(side)
        facts = (f"{millis(seconds)} of CPU; the bar is {millis(BAR)}; {rounds.count} rounds",)
        return Figure(f"task_load_context, {what}, times {millis(BAR)}", seconds / BAR, 1, "at most", facts)

    return [figure("the last 5 checkpoints", "recent"), figure("all that fit", "all")]


async def _load(desk: Desk, task: TaskId, more: dict[str, Json]) -> float:
    cpu = time.process_time()
    for _ in range(LOOKS):
        answer = await dispatch.perform(desk.store, desk.caller, "task_load_context", {"task_id": task, **more})
        assert not answer.is_error, answer.text
        assert "Step 10000 " in answer.text
    return (time.process_time() - cpu) / LOOKS


def _note(file: Path, task: TaskId) -> None:
    connection = apsw.Connection(str(file))
    connection.pragma("synchronous", "off")
    with connection:
        connection.execute(_NOTES, {"task": task, "count": CHECKPOINTS, "at": 1_700_000_000_000_000})
    connection.close()
