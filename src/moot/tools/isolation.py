"""Asking for workspaces, in one transaction: the row, its tasks, and the job that runs git for it."""

from collections.abc import Sequence
from typing import Literal

from moot.board import boards, tasks
from moot.board.boards import Board
from moot.board.errors import TaskNotFound
from moot.board.tasks import Task
from moot.core.errors import NotAllowed
from moot.core.ids import BoardId, StreamId, TaskId, WorkspaceId
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents
from moot.registry.agents import Agent
from moot.workspaces import branches, workspaces
from moot.workspaces.errors import BranchTaken
from moot.workspaces.workspaces import NewWorkspace, Workspace

WORKTREE = "worktree"  # the kind of job
Wanted = Literal["make", "merge", "remove", "push"]


def create(tx: Tx, new: NewWorkspace, task_ids: Sequence[str] = ()) -> Workspace:
    """The same asked again by the same agent is the same workspace."""
    _check(tx, new, task_ids)
    new = replace(new, repo=workspaces.repository(tx, new.repo))
    found = workspaces.on_branch(tx, new.branch, new.repo)
    if found is None:
        found = workspaces.add(tx, new)
    elif found.is_closed or _who(found) != (new.instance, new.board, new.created_by):
        raise workspaces.taken(found)
    workspaces.attach(tx, found.id, task_ids)
    have_done(tx, found)
    return found


def of_agent(tx: Tx, agent: Agent) -> Workspace:
    """The one that an agent works in whatever the run, on a branch of its own name; made, or taken up again."""
    branch = branches.default(agent.instance, agent.name)
    found = workspaces.on_branch(tx, branch)
    if found is None:
        new = NewWorkspace(agent.stream, agent.instance, branch, created_by=agent.id, created_name=agent.name)
        return workspaces.add(tx, new)
    if (found.instance, found.created_name) != (agent.instance, agent.name):
        raise BranchTaken(
            f"The workspace {found.id} is on {branch!r}.", f"Clear it away: moot workspace clean {found.id}"
        )
    return workspaces.reopen(tx, found.id)


def for_task(tx: Tx, board: Board, id: TaskId, name: str, agent: Agent) -> Workspace | None:
    """Where a task is worked on that somebody has claimed, if its workflow wants a worktree for each. Who takes it over
    goes on where the one before has left it."""
    if not board.makes_workspaces:
        return None
    attached = workspaces.of_task(tx, id)
    if (found := next((one for one in attached if not one.is_closed), None)) is not None:
        return found
    if (left := next((one for one in attached if one.path is not None and not one.wanted), None)) is not None:
        reopened = workspaces.reopen(tx, left.id)
        have_done(tx, reopened)
        return reopened
    branch = branches.default(board.instance, name)
    if workspaces.on_branch(tx, branch) is not None:  # of another workflow, say, with a task of the same name
        branch = f"{branch}-{tx.new_id('ws')[-6:]}"
    new = NewWorkspace(board.stream, board.instance, branch, board.id, created_by=agent.id, created_name=agent.name)
    return create(tx, new, (id,))


def where(tx: ReadTx, task: Task) -> Workspace | None:
    """Where somebody is at work on a task, or will be: in a worktree of its own, or in its holder's."""
    found = [*workspaces.of_task(tx, task.id), *_of_holder(tx, task)]
    return next((one for one in found if not one.is_closed), None)


def _of_holder(tx: ReadTx, task: Task) -> list[Workspace]:
    agent = None if task.holder is None else agents.get(tx, task.holder)
    found = None if agent is None else own(tx, agent)
    return [] if found is None else [found]


def own(tx: ReadTx, agent: Agent) -> Workspace | None:
    """The worktree that an agent has for itself, if one was made."""
    if agent.settings.get("workspace") != "worktree":
        return None
    found = workspaces.on_branch(tx, branches.default(agent.instance, agent.name))
    return found if found is not None and found.created_name == agent.name else None


def in_hand(tx: ReadTx, agent: Agent, hand: str) -> Task | None:
    """The task that an agent holds through this hand, if its workflow wants a worktree for each."""
    held = (one for one in tasks.held_by(tx, agent.id) if one.hand == hand)
    return next((one for one in held if boards.get(tx, one.board).makes_workspaces), None)


def of_held(tx: Tx, task: Task, agent: Agent) -> Workspace:
    """Like `for_task`, for who holds one of a workflow that wants them."""
    found = for_task(tx, boards.get(tx, task.board), task.id, task.name, agent)
    assert found is not None
    return found


def ask(tx: Tx, id: WorkspaceId, wish: Wanted) -> Workspace:
    found = workspaces.want(tx, id, wish)
    have_done(tx, found)
    return found


def have_done(tx: Tx, one: Workspace) -> None:
    """A job for what is wanted of it."""
    if one.wanted:
        jobs.add(tx, NewJob(key(one.id), WORKTREE, one.stream, one.id))


def key(id: WorkspaceId) -> str:
    """Of the job."""
    return f"worktree:{id}"


def holds(tx: ReadTx, task: str, agent: Agent) -> bool:
    """Whether an agent is at work on a task."""
    try:
        found = tasks.get(tx, TaskId(task))
    except TaskNotFound:
        return False
    return found.holder == agent.id and found.is_held(tx.now)


def attach(tx: Tx, one: Workspace, task_ids: Sequence[str]) -> None:
    """TaskNotFound if its workflow has no such task."""
    _check_tasks(tx, one.stream, one.board, task_ids)
    workspaces.attach(tx, one.id, task_ids)


def check_holders(tx: Tx, stream: StreamId, agent: Agent, task_ids: Sequence[str]) -> None:
    """Where a task is done is for its holder to say: its checks are made there. NotAllowed for anybody else."""
    for id in sorted(task_ids):
        task = tasks.locked(tx, TaskId(id), stream)
        if task.is_held(tx.now) and task.holder != agent.id:
            raise NotAllowed(f"The task {task.name!r} is held by somebody else.", "Leave it to them, or ask the lead.")


def _check(tx: ReadTx, new: NewWorkspace, task_ids: Sequence[str]) -> None:
    if new.board:
        boards.get(tx, BoardId(new.board), new.instance)
    _check_tasks(tx, new.stream, new.board, task_ids)


def _check_tasks(tx: ReadTx, stream: StreamId, board: str, task_ids: Sequence[str]) -> None:
    for id in task_ids:
        if board not in ("", tasks.get(tx, TaskId(id), stream).board):
            raise tasks.missing(id)


def _who(one: Workspace) -> tuple[object, ...]:
    return one.instance, one.board, one.created_by
