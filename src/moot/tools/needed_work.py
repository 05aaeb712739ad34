"""Where the work lies that a task builds on, while it is not merged."""

from collections import deque

from moot.board import boards, plans, tasks
from moot.core.ids import BoardId, TaskId, WorkspaceId
from moot.core.tx import ReadTx
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace

_LOOKED_THROUGH = 1000  # tasks that were done in no worktree, for what those build on


def of(tx: ReadTx, one: Workspace) -> list[Workspace]:
    """The workspaces of what the tasks of this one need, if its workflow has one for every task. Each has brought in
    what it builds on itself; behind a task without one lies what that needs."""
    board = boards.find(tx, BoardId(one.board))
    if board is None or not board.makes_workspaces:
        return []
    found: dict[WorkspaceId, Workspace] = {}
    seen: set[TaskId] = set()
    waiting = deque(TaskId(id) for id in workspaces.tasks_of(tx, one.id))
    while waiting and len(seen) < _LOOKED_THROUGH:
        for edge in tasks.needs(tx, waiting.popleft(), plans.MOST_NEEDS):
            if edge.kind != "blocks" or edge.id in seen:
                continue
            seen.add(edge.id)
            there = _made(tx, edge.id) if edge.status == "completed" else []
            found |= {each.id: each for each in there if each.status != "merged" and each.id != one.id}
            if not there:
                waiting.append(edge.id)
    return list(found.values())


def _made(tx: ReadTx, task: TaskId) -> list[Workspace]:
    """Those that have come about: one that was refused has no branch, and says why."""
    found = workspaces.of_task(tx, task)
    return [one for one in found if one.status != "creating" and not (one.path is None and one.trouble)]
