"""Where the work lies that tasks build on, while it is not merged."""

from collections import deque
from collections.abc import Callable, Iterable

from moot.board import boards, plans, tasks
from moot.board.tasks import Edge
from moot.core.ids import BoardId, TaskId, WorkspaceId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents, attempts
from moot.registry.agents import Agent
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace

_LOOKED_THROUGH = 1000  # tasks that were done in no worktree, for what those build on


@record
class Needed:
    workspace: Workspace
    is_worked_in: bool = False  # at the moment, so that what is not committed there is half of something


def of(tx: ReadTx, one: Workspace) -> list[Needed]:
    """The workspaces of what the tasks of this one need, if its workflow has one for every task. Each has brought in
    what it builds on itself; behind a task without one lies what that needs."""
    board = boards.find(tx, BoardId(one.board))
    if board is None or not board.makes_workspaces:
        return []
    found = _found(tx, workspaces.tasks_of(tx, one.id), lambda edge: _made(tx, edge.id))
    return [Needed(each) for each in found if each.id != one.id]


def for_agent(tx: ReadTx, agent: Agent, one: Workspace) -> list[Needed]:
    """The same for what an agent has in hand that works in a worktree of its own: what it builds on lies in the own
    worktrees of those who did it."""
    held = [task.id for task in tasks.held_by(tx, agent.id) if not boards.get(tx, task.board).makes_workspaces]
    found = _found(tx, held, lambda edge: _made(tx, edge.id) or _of_doer(tx, edge.id))
    return [Needed(each, _is_worked_in(tx, each)) for each in found if each.id != one.id]


def _found(tx: ReadTx, of: Iterable[str], where: Callable[[Edge], list[Workspace]]) -> list[Workspace]:
    found: dict[WorkspaceId, Workspace] = {}
    seen: set[TaskId] = set()
    waiting = deque(TaskId(id) for id in of)
    while waiting and len(seen) < _LOOKED_THROUGH:
        for edge in tasks.needs(tx, waiting.popleft(), plans.MOST_NEEDS):
            if edge.kind != "blocks" or edge.id in seen:
                continue
            seen.add(edge.id)
            there = where(edge) if edge.status == "completed" else []
            found |= {each.id: each for each in there if each.status != "merged"}
            if not there:
                waiting.append(edge.id)
    return list(found.values())


def _made(tx: ReadTx, task: TaskId) -> list[Workspace]:
    """Those that have come about: one that was refused has no branch, and says why."""
    found = workspaces.of_task(tx, task)
    return [one for one in found if one.status != "creating" and not (one.path is None and one.trouble)]


def _of_doer(tx: ReadTx, task: TaskId) -> list[Workspace]:
    doer = tasks.get(tx, task).done_by
    own = None if doer is None else isolation.own(tx, agents.get(tx, doer))
    return [] if own is None or own.status == "creating" else [own]


def _is_worked_in(tx: ReadTx, one: Workspace) -> bool:
    return one.created_by is not None and attempts.running(tx, one.created_by) is not None
