"""How workflows and tasks are shown: to agents as the results of tools, to people by the commands."""

from collections import Counter

from moot.board import tasks
from moot.board.boards import Board
from moot.board.states import BoardStatus
from moot.board.tasks import Count, Task
from moot.core import clock
from moot.core.tx import ReadTx
from moot.engine.flow.flows import Flow
from moot.tools.shapes import Result


class TaskLine(Result):
    """A task in a list."""

    id: str
    name: str
    status: str
    description: str | None = None
    sequence: int
    parallel_group: str | None = None
    estimated_complexity: str | None = None
    assigned_agent: str | None = None
    capabilities: tuple[str, ...] = ()
    files_likely_affected: tuple[str, ...] = ()
    claimed_by: str | None = None
    outcome: str | None = None
    error: str | None = None


class WorkflowLine(Result):
    id: str
    name: str
    status: BoardStatus
    max_parallel_tasks: int
    created_at: str
    reason: str | None = None
    has_steps: bool | None = None  # it goes step by step, and not by a plan


class Group(Result):
    total: int
    completed: int


class Remaining(Result):
    tasks: int
    by_complexity: dict[str, int]


class Progress(Result):
    workflow_id: str
    workflow_status: BoardStatus
    total_tasks: int
    completed_tasks: int
    percent: int
    by_status: dict[str, int]
    blocked_tasks: int
    current_tasks: tuple[TaskLine, ...]
    parallel_groups: dict[str, Group]
    estimated_remaining: Remaining


def flow_line(flow: Flow) -> WorkflowLine:
    return WorkflowLine(
        id=flow.id,
        name=flow.name,
        status="in_progress" if flow.status == "starting" else flow.status,
        max_parallel_tasks=1,
        created_at=clock.to_iso(flow.started_at),
        reason=flow.error or None,
        has_steps=True,
    )


def line(board: Board) -> WorkflowLine:
    return WorkflowLine(
        id=board.id,
        name=board.name,
        status=board.status,
        max_parallel_tasks=board.max_parallel,
        created_at=clock.to_iso(board.created_at),
        reason=board.reason or None,
    )


def task_line(task: Task, *, is_whole: bool = False) -> TaskLine:
    """In a list of what can be done with what is to be done; otherwise only how it stands."""
    return TaskLine(
        id=task.id,
        name=task.name,
        status="blocked" if task.is_blocked else task.status,
        description=task.description if is_whole else None,
        sequence=task.rank,
        parallel_group=task.parallel_group,
        estimated_complexity=task.complexity,
        assigned_agent=task.assigned,
        capabilities=task.capabilities,
        files_likely_affected=task.files if is_whole else (),
        claimed_by=task.holder,
        outcome=task.outcome,
        error=task.error,
    )


def progress_of(tx: ReadTx, board: Board) -> Progress:
    counts = tasks.counts(tx, board.id)
    total = sum(one.tasks for one in counts)
    done = _sum(counts, "completed", "skipped")
    by_status: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for one in counts:
        by_status["blocked" if one.is_blocked else one.status] += one.tasks
        if one.status not in ("completed", "skipped"):
            left[one.complexity or "unknown"] += one.tasks
    current = tasks.page(tx, board.id, statuses=("planning", "in_progress", "verifying"))
    return Progress(
        workflow_id=board.id,
        workflow_status=board.status,
        total_tasks=total,
        completed_tasks=done,
        percent=100 * done // total if total else 0,
        by_status=dict(by_status),
        blocked_tasks=by_status["blocked"],
        current_tasks=tuple(task_line(one) for one in current),
        parallel_groups=_groups(counts),
        estimated_remaining=Remaining(tasks=total - done, by_complexity=dict(left)),
    )


def _sum(counts: list[Count], *statuses: str) -> int:
    return sum(one.tasks for one in counts if one.status in statuses)


def _groups(counts: list[Count]) -> dict[str, Group]:
    found: dict[str, Group] = {}
    for name in sorted({one.parallel_group for one in counts if one.parallel_group}):
        inside = [one for one in counts if one.parallel_group == name]
        found[name] = Group(total=sum(one.tasks for one in inside), completed=_sum(inside, "completed", "skipped"))
    return found


def summarised(board: Board, how: Progress) -> str:
    """A few lines for somebody who knows nothing of it."""
    lines = [f"# {board.name}", f"{how.workflow_status}: {how.completed_tasks} of {how.total_tasks} tasks are done."]
    if board.reason:
        lines.append(board.reason)
    if said := board.plan.get("summary"):
        lines.append(str(said))
    lines += [f"- {count} {status}" for status, count in how.by_status.items()]
    lines += [f"- at work: {one.name} ({one.status}), {one.claimed_by}" for one in how.current_tasks]
    return "\n".join(lines)
