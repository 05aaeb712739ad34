"""The tasks of a workflow file: the plan they make, and its board, which has the id of the run."""

from collections.abc import Iterable, Mapping
from typing import cast

from moot.board import boards, claims, laying, plans, tasks
from moot.board.boards import Board, NewBoard
from moot.board.plans import Need, Plan, Planned
from moot.board.states import HELD
from moot.core.ids import BoardId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import values
from moot.workflow import shell, templates
from moot.workflow.workflow import TaskDefinition, Value, Workflow

_NAMED = 5  # tasks, where they may be many
_MOST_HELD = 1000  # at once: no file allows more
_FOLLOWED = "another run was started"


def plan_of(workflow: Workflow, known: Mapping[str, Value] | None = None) -> Plan:
    """What a file plans; with the values of its variables, once they are known."""
    return Plan(summary=workflow.name, tasks=planned(workflow.tasks, known))


def planned(tasks: Iterable[TaskDefinition], known: Mapping[str, Value] | None = None) -> tuple[Planned, ...]:
    return tuple(_planned(one, known) for one in tasks)


def is_planned(run: Run) -> bool:
    return bool(run.definition.get("tasks"))


def board_of(tx: ReadTx, run: Run) -> Board | None:
    return boards.find(tx, BoardId(run.id))


def lay(tx: Tx, run: Run, workflow: Workflow) -> None:
    new = NewBoard(
        instance=run.instance,
        stream=run.stream,
        name=run.name,
        source_type="file",
        source_content="",
        source_ref=run.source,
        max_parallel=workflow.max_parallel_tasks,
        makes_workspaces=workflow.makes_workspaces,
        created_by="system",
        id=BoardId(run.id),
    )
    board = boards.create(tx, new)
    laying.set_plan(tx, board.id, plan_of(workflow, values.of_run(run, workflow, run.outputs)))


def holders(tx: ReadTx, run: Run) -> list[Agent]:
    """People, and agents from outside, who are at work on the plan: nothing of moot's shows that they are."""
    found = [agents.get(tx, one.holder) for one in tasks.held(tx, BoardId(run.id)) if one.holder is not None]
    return [one for one in found if not one.is_started_by_moot]


def trouble(tx: ReadTx, run: Run) -> str:
    """Why the plan of a run is not done, for whoever finds nobody at work on it."""
    board = board_of(tx, run)
    if board is None or board.status == "completed":
        return ""
    if board.status in ("paused", "abandoned"):
        return f"the plan is {board.status}"
    failed = tasks.page(tx, board.id, statuses=("failed",), limit=_NAMED)
    if failed:
        return f"{', '.join(one.name for one in failed)} failed; try again with: moot retry, then moot resume"
    ready = tasks.available(tx, board.id, _NAMED)
    return f"nobody here can do: {', '.join(one.name for one in ready)}" if ready else "tasks are left undone"


def abandon(tx: Tx, run: Run) -> None:
    """Another run follows: nobody goes on with this one's plan, nor holds anything of it, who may be needed there."""
    board = board_of(tx, run)
    if board is None or board.status in ("completed", "abandoned"):
        return
    boards.move(tx, board, "abandoned", _FOLLOWED)
    for one in tasks.page(tx, board.id, statuses=tuple(HELD), limit=_MOST_HELD):
        task = tasks.locked(tx, one.id)
        if task.status in HELD:  # and not ended at this moment
            claims.release(tx, task, _FOLLOWED)


def _planned(one: TaskDefinition, known: Mapping[str, Value] | None) -> Planned:
    return Planned(
        name=one.name,
        description=one.description if known is None else templates.expand(one.description, known).text,
        needs=tuple(Need(need.name, need.kind) for need in one.needs),
        parallel_group=one.parallel_group,
        complexity=one.complexity,
        assigned=plans.assignee(one.agent),
        capabilities=one.capabilities,
        files=one.files,
        checks=tuple(_check(check, known) for check in one.checks),
    )


def _check(words: Mapping[str, Json], known: Mapping[str, Value] | None) -> Mapping[str, Json]:
    line = words.get("shell")
    if known is None or not isinstance(line, str):
        return words
    return cast(Mapping[str, Json], {**words, "shell": shell.expand(line, known)})
