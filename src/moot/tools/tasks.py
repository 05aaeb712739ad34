"""Tasks: claiming one, planning it, and saying what came of it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, JsonValue

from moot.board import approach, boards, checkpoints, claims, tasks
from moot.board.boards import Board
from moot.board.claims import Taken
from moot.board.progress import Result as Outcome
from moot.board.states import TaskStatus
from moot.board.tasks import Edge, Task
from moot.core import clock
from moot.core.ids import BoardId, TaskId
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import agents
from moot.tools import acting, doing, isolation, standing, teamwork
from moot.tools.doing import Able
from moot.tools.plans import Lines
from moot.tools.shapes import Arguments, Detail, For, Id, Limit, Prose, Result, written
from moot.tools.standing import TaskLine

TheTask = Annotated[Id, Field(validation_alias=AliasChoices("id", "task_id"))]


class Get(Arguments):
    id: TheTask


class Claim(Arguments):
    task_id: Id
    agent_id: For = None


class Release(Arguments):
    task_id: Id
    agent_id: For = None
    reason: Prose = ""


class OwnPlan(Arguments):
    approach: Prose
    steps: Lines = ()
    files_to_modify: Lines = ()
    files_to_create: Lines = ()
    context_needed: Lines = ()


class SetPlan(Arguments):
    id: TheTask
    plan: OwnPlan
    context: Detail | None = None


class Replan(Arguments):
    id: TheTask
    reason: Prose
    new_plan: OwnPlan


class UpdateStatus(Arguments):
    id: TheTask
    status: TaskStatus
    outcome: Annotated[Prose | None, Field(description="What came of it; needed for completed.")] = None
    outcome_detail: Detail | None = None
    error: Annotated[Prose | None, Field(description="What went wrong; needed for failed.")] = None
    reason: Prose = ""


class Available(Arguments):
    workflow_id: Id | None = None
    capabilities: Annotated[
        tuple[str, ...] | None,
        Field(max_length=100, strict=False, description="What you can do; default: as registered."),
    ] = None
    agent_id: For = None
    limit: Limit = 10


class TaskCard(TaskLine):
    workflow_id: str
    plan: dict[str, JsonValue]
    context: dict[str, JsonValue]
    outcome_detail: dict[str, JsonValue]
    checks: tuple[dict[str, JsonValue], ...]
    checkpoints: int
    completed_by: str | None = None
    lease_until: str | None = None
    started_at: str | None = None
    ended_at: str | None = None


class Claimed(Result):
    """What was claimed, or why it was not."""

    success: bool
    already_claimed_by: str | None = None
    reason: str | None = None
    waiting_on: tuple[str, ...] | None = None
    fence: int | None = None
    lease_seconds: int | None = None
    workspace_id: str | None = None  # where it is done, if the workflow has a worktree for every task


class Done(Result):
    success: bool = True
    status: TaskStatus


class DependencyCard(Result):
    id: str
    name: str
    type: Literal["blocks", "informs"]
    status: TaskStatus
    outcome: str | None = None


class Dependencies(Result):
    task_id: str
    can_start: bool
    waiting_on: tuple[str, ...]
    dependencies: tuple[DependencyCard, ...]
    dependants: tuple[DependencyCard, ...]


class TaskLines(Result):
    tasks: tuple[TaskLine, ...]


async def get(call: Call, arguments: Get) -> TaskCard:
    return await call.read(lambda tx: card(tx, doing.known(tx, call.caller, arguments.id)))


async def claim(call: Call, arguments: Claim) -> Claimed:
    def change(tx: Tx) -> Claimed:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        stream = acting.instance_of(tx, call.caller).stream
        found = doing.claim(tx, call.caller, agent, TaskId(arguments.task_id), stream)
        if isinstance(found, Taken):
            lease = doing.lease_of(call.caller, agent)
            seconds = None if lease is None else int(lease.total_seconds())
            board = boards.get(tx, found.board)
            teamwork.check_work(tx, board)
            made = isolation.for_task(tx, board, TaskId(arguments.task_id), found.name, agent)
            where = None if made is None else made.id
            return Claimed(success=True, fence=found.fence, lease_seconds=seconds, workspace_id=where)
        return Claimed(
            success=False,
            already_claimed_by=found.holder,
            reason=found.reason,
            waiting_on=found.waiting_on or None,
        )

    return await call.write(change)


async def release(call: Call, arguments: Release) -> Done:
    def change(tx: Tx) -> Done:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        task = doing.releasable(tx, call.caller, TaskId(arguments.task_id))
        claims.release(tx, task, arguments.reason or f"released by {agent.name}")
        return Done(status="pending")

    return await call.write(change)


async def set_plan(call: Call, arguments: SetPlan) -> Done:
    def change(tx: Tx) -> Done:
        task = doing.held(tx, call.caller, TaskId(arguments.id))
        approach.plan(tx, task, arguments.plan.model_dump(mode="json"), arguments.context)
        return Done(status=task.status)

    return await call.write(change)


async def replan(call: Call, arguments: Replan) -> Done:
    def change(tx: Tx) -> Done:
        task = doing.held(tx, call.caller, TaskId(arguments.id))
        approach.replan(tx, task, arguments.new_plan.model_dump(mode="json"), arguments.reason, doing.holder_of(task))
        return Done(status=task.status)

    return await call.write(change)


async def update_status(call: Call, arguments: UpdateStatus) -> Done:
    result = Outcome(arguments.outcome, arguments.outcome_detail, arguments.error)

    def change(tx: Tx) -> Done:
        doing.update(tx, call.caller, TaskId(arguments.id), arguments.status, result, arguments.reason)
        return Done(status=tasks.get(tx, TaskId(arguments.id)).status)

    return await call.write(change)


async def check_dependencies(call: Call, arguments: Get) -> Dependencies:
    def look(tx: ReadTx) -> Dependencies:
        task = doing.known(tx, call.caller, arguments.id)
        needs = tasks.needs(tx, task.id)
        return Dependencies(
            task_id=task.id,
            can_start=task.status == "pending" and task.blockers == 0,
            waiting_on=tuple(edge.name for edge in needs if edge.is_waited_for),
            dependencies=tuple(_dependency(edge) for edge in needs),
            dependants=tuple(_dependency(edge) for edge in tasks.dependants(tx, task.id)),
        )

    return await call.read(look)


async def available(call: Call, arguments: Available) -> TaskLines:
    def look(tx: ReadTx) -> TaskLines:
        agent = acting.known_agent_for(tx, call.caller, arguments.agent_id)
        known = agent.capabilities if agent else ()
        able = Able(
            agent.name if agent else agents.PERSON,
            frozenset(known if arguments.capabilities is None else arguments.capabilities),
        )
        found = doing.fitting(tx, _among(tx, call, arguments.workflow_id), able, arguments.limit)
        return TaskLines(tasks=tuple(standing.task_line(one, is_whole=True) for one in found))

    return await call.read(look)


def _among(tx: ReadTx, call: Call, id: str | None) -> list[Board]:
    if id is None:
        return boards.all_of(tx, call.caller.instance, ("ready", "in_progress"))
    return [boards.get(tx, BoardId(id), call.caller.instance)]


def card(tx: ReadTx, task: Task) -> TaskCard:
    plain = {
        "plan": dict(task.plan),
        "context": dict(task.context),
        "outcome_detail": dict(task.outcome_detail),
        "checks": tuple(dict(check) for check in task.checks),
    }
    moments = {name: _moment(getattr(task, name)) for name in ("lease_until", "started_at", "ended_at")}
    return TaskCard.model_validate(
        standing.task_line(task, is_whole=True).model_dump()
        | {"workflow_id": task.board, "checkpoints": checkpoints.count(tx, task.id), "completed_by": task.done_by}
        | plain
        | moments
    )


def _moment(at: datetime | None) -> str | None:
    return None if at is None else clock.to_iso(at)


def _dependency(edge: Edge) -> DependencyCard:
    return DependencyCard(id=edge.id, name=edge.name, type=edge.kind, status=edge.status, outcome=edge.outcome)


TOOLS = (
    Tool(
        name="task_get",
        group="tasks",
        words="Look at one task.",
        effect="none",
        arguments=Get,
        result=TaskCard,
        function=get,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="task_claim",
        group="tasks",
        words="Take a task for yourself. If somebody else has it, take the next one of workflow_next_tasks.",
        effect="store",
        arguments=Claim,
        result=Claimed,
        function=claim,
        text=written,
    ),
    Tool(
        name="task_release",
        group="tasks",
        words="Give a task back that you will not finish; what you noted stays.",
        effect="store",
        arguments=Release,
        result=Done,
        function=release,
        text=written,
    ),
    Tool(
        name="task_set_plan",
        group="tasks",
        words="Write down how you mean to do a task that you hold.",
        effect="store",
        arguments=SetPlan,
        result=Done,
        function=set_plan,
        text=written,
    ),
    Tool(
        name="task_replan",
        group="tasks",
        words="Change your plan for a task, and say why; the one before is kept.",
        effect="store",
        arguments=Replan,
        result=Done,
        function=replan,
        text=written,
    ),
    Tool(
        name="task_update_status",
        group="tasks",
        words="Say how a task goes on: in_progress, completed (with outcome), failed (with error), pending: once more.",
        effect="store",
        arguments=UpdateStatus,
        result=Done,
        function=update_status,
        text=written,
    ),
    Tool(
        name="task_check_dependencies",
        group="tasks",
        words="See what a task waits for, and what waits for it.",
        effect="none",
        arguments=Get,
        result=Dependencies,
        function=check_dependencies,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="task_available",
        group="tasks",
        words="Find tasks that can be claimed now and fit what you can do.",
        effect="none",
        arguments=Available,
        result=TaskLines,
        function=available,
        text=written,
        roles=EVERYONE,
    ),
)
