"""Workflows: what is to be done, the plan for it, what can be done next, and how far it has come."""

from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue

from moot.board import boards, laying, progress, tasks
from moot.board.boards import Board, NewBoard
from moot.board.states import BoardStatus
from moot.core.ids import BoardId
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import flows
from moot.teams import teams
from moot.tools import acting, plans, standing, teamwork
from moot.tools.plans import Tasks, WrittenPlan
from moot.tools.shapes import Arguments, Id, Line, Prose, Result, written
from moot.tools.standing import Progress, TaskLine, WorkflowLine

NEXT, MOST_NEXT = 10, 100


def _several(value: object) -> object:
    """One state, or a list of them; nothing is like none."""
    return [value] if isinstance(value, str) else () if value is None else value


Statuses = Annotated[
    tuple[BoardStatus, ...],
    Field(strict=False),
    BeforeValidator(_several, json_schema_input_type=BoardStatus | list[BoardStatus] | None),
]


class Create(Arguments):
    name: Line
    source_type: Annotated[Line, Field(description="Where it comes from, e.g. prompt, issue, file.")] = "prompt"
    source_content: Annotated[Prose, Field(description="What is to be done, in full.")] = ""
    source_ref: Line | None = None
    max_parallel_tasks: Annotated[int, Field(ge=1, le=1000)] = 1
    auto_create_workspaces: Annotated[bool, Field(description="A git worktree for every task that is claimed.")] = False


class Get(Arguments):
    id: Id
    after: Annotated[int, Field(ge=-1, description="Tasks from the one after this place in the plan.")] = -1
    limit: Annotated[int, Field(ge=0, le=1000)] = 100


class List(Arguments):
    status: Statuses = ()
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class SetPlan(Arguments):
    id: Id
    plan: WrittenPlan


class AddTasks(Arguments):
    id: Id
    tasks: Tasks


class UpdateStatus(Arguments):
    id: Id
    status: BoardStatus
    reason: Prose = ""


class Next(Arguments):
    workflow_id: Id
    limit: Annotated[int, Field(ge=1, le=MOST_NEXT)] = NEXT


class Look(Arguments):
    workflow_id: Id


class WorkflowLines(Result):
    workflows: tuple[WorkflowLine, ...]


class WorkflowCard(WorkflowLine):
    source_type: str
    source_content: str
    source_ref: str | None = None
    auto_create_workspaces: bool
    plan: dict[str, JsonValue]
    tasks: tuple[TaskLine, ...]
    next_after: int | None = None  # where the plan goes on


class Planned(Result):
    workflow_id: str
    tasks_created: int
    tasks_kept: int
    tasks_removed: int
    parallelizable_groups: tuple[str, ...]
    status: BoardStatus


class NextTasks(Result):
    tasks: tuple[TaskLine, ...]
    max_parallel: int
    recommended_count: int
    workflow_status: BoardStatus
    all_complete: bool


class Summary(Result):
    workflow_id: str
    summary: str


async def create(call: Call, arguments: Create) -> WorkflowLine:
    def change(tx: Tx) -> WorkflowLine:
        instance = acting.instance_of(tx, call.caller)
        new = NewBoard(
            instance=instance.name,
            stream=instance.stream,
            name=arguments.name,
            source_type=arguments.source_type,
            source_content=arguments.source_content,
            source_ref=arguments.source_ref,
            max_parallel=arguments.max_parallel_tasks,
            makes_workspaces=arguments.auto_create_workspaces,
            created_by=call.caller.name,
        )
        return standing.line(boards.create(tx, new))

    return await call.write(change)


async def get(call: Call, arguments: Get) -> WorkflowCard:
    def look(tx: ReadTx) -> WorkflowCard:
        board = board_of(tx, call, arguments.id)
        found = tasks.page(tx, board.id, after=arguments.after, limit=arguments.limit)
        return WorkflowCard(
            **standing.line(board).model_dump(),
            source_type=board.source_type,
            source_content=board.source_content,
            source_ref=board.source_ref,
            auto_create_workspaces=board.makes_workspaces,
            plan=dict(board.plan),  # pyright: ignore[reportArgumentType]  # stored JSON is JSON
            tasks=tuple(standing.task_line(one) for one in found),
            next_after=found[-1].rank if found and len(found) == arguments.limit else None,
        )

    return await call.read(look)


async def list_workflows(call: Call, arguments: List) -> WorkflowLines:
    def look(tx: ReadTx) -> WorkflowLines:
        found = boards.all_of(tx, call.caller.instance, arguments.status, arguments.limit)
        planned = {one.id for one in found}
        stepwise = [one for one in flows.all_of(tx, call.caller.instance, arguments.limit) if one.id not in planned]
        lines = [*(standing.line(one) for one in found), *(standing.flow_line(one) for one in stepwise)]
        chosen = [one for one in lines if not arguments.status or one.status in arguments.status]
        newest = sorted(chosen, key=lambda one: (one.created_at, one.id), reverse=True)
        return WorkflowLines(workflows=tuple(newest[: arguments.limit]))

    return await call.read(look)


async def set_plan(call: Call, arguments: SetPlan) -> Planned:
    plan = plans.plan_of(arguments.plan, call.caller)
    await plans.check_schemas(arguments.plan.tasks)
    checked = laying.check_early(plan)

    def change(tx: Tx) -> Planned:
        board = board_of(tx, call, arguments.id)
        teamwork.check_plan(tx, call.caller, board, plan.tasks)
        return _planned(tx, board, laying.set_plan(tx, board.id, plan, checked))

    return await call.write(change)


async def add_tasks(call: Call, arguments: AddTasks) -> Planned:
    more = plans.tasks_of(arguments.tasks, call.caller)
    await plans.check_schemas(arguments.tasks)

    def change(tx: Tx) -> Planned:
        board = board_of(tx, call, arguments.id)
        teamwork.check_plan(tx, call.caller, board, more)
        return _planned(tx, board, laying.add_tasks(tx, board.id, more))

    return await call.write(change)


async def update_status(call: Call, arguments: UpdateStatus) -> WorkflowLine:
    def change(tx: Tx) -> WorkflowLine:
        team = teams.of_run(tx, BoardId(arguments.id))
        if team is not None:
            teamwork.check_leads(call.caller, team)
        progress.move_board(tx, BoardId(arguments.id), arguments.status, arguments.reason, call.caller.instance)
        return standing.line(boards.get(tx, BoardId(arguments.id)))

    return await call.write(change)


async def next_tasks(call: Call, arguments: Next) -> NextTasks:
    def look(tx: ReadTx) -> NextTasks:
        board = board_of(tx, call, arguments.workflow_id)
        found = tasks.available(tx, board.id, arguments.limit) if board.status in ("ready", "in_progress") else []
        room = max(board.max_parallel - tasks.at_work(tx, board.id), 0)
        return NextTasks(
            tasks=tuple(standing.task_line(one, is_whole=True) for one in found),
            max_parallel=board.max_parallel,
            recommended_count=min(room, len(found)),
            workflow_status=board.status,
            all_complete=board.status == "completed",
        )

    return await call.read(look)


async def show_progress(call: Call, arguments: Look) -> Progress:
    return await call.read(lambda tx: standing.progress_of(tx, board_of(tx, call, arguments.workflow_id)))


async def summary(call: Call, arguments: Look) -> Summary:
    def look(tx: ReadTx) -> Summary:
        board = board_of(tx, call, arguments.workflow_id)
        return Summary(workflow_id=board.id, summary=standing.summarised(board, standing.progress_of(tx, board)))

    return await call.read(look)


def board_of(tx: ReadTx, call: Call, id: str) -> Board:
    return boards.get(tx, BoardId(id), call.caller.instance)


def _planned(tx: ReadTx, board: Board, laid: laying.Laid) -> Planned:
    return Planned(
        workflow_id=board.id,
        tasks_created=laid.added,
        tasks_kept=laid.kept,
        tasks_removed=laid.removed,
        parallelizable_groups=laid.groups,
        status=boards.get(tx, board.id).status,
    )


TOOLS = (
    Tool(
        name="workflow_create",
        group="workflows",
        words="Begin a durable piece of work: answers with its id. Give it a plan next, with workflow_set_plan.",
        effect="store",
        arguments=Create,
        result=WorkflowLine,
        function=create,
        text=written,
    ),
    Tool(
        name="workflow_get",
        group="workflows",
        words="Look at a workflow, its plan and its tasks.",
        effect="none",
        arguments=Get,
        result=WorkflowCard,
        function=get,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_list",
        group="workflows",
        words="Find workflows, by state: those in_progress are where work can be taken up again.",
        effect="none",
        arguments=List,
        result=WorkflowLines,
        function=list_workflows,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_set_plan",
        group="workflows",
        words="Give a workflow its plan, or a new one: finished tasks and those being worked on are kept.",
        effect="store",
        arguments=SetPlan,
        result=Planned,
        function=set_plan,
        text=written,
    ),
    Tool(
        name="workflow_add_tasks",
        group="workflows",
        words="Add tasks to a plan; they may depend on those that are there.",
        effect="store",
        arguments=AddTasks,
        result=Planned,
        function=add_tasks,
        text=written,
    ),
    Tool(
        name="workflow_update_status",
        group="workflows",
        words="Pause a workflow, let it go on, or give it up.",
        effect="store",
        arguments=UpdateStatus,
        result=WorkflowLine,
        function=update_status,
        text=written,
    ),
    Tool(
        name="workflow_next_tasks",
        group="workflows",
        words="See which tasks can be claimed now, with task_claim.",
        effect="none",
        arguments=Next,
        result=NextTasks,
        function=next_tasks,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_progress",
        group="workflows",
        words="See how many tasks are done, blocked, being worked on and left.",
        effect="none",
        arguments=Look,
        result=Progress,
        function=show_progress,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_summary",
        group="workflows",
        words="A few lines on how a workflow stands.",
        effect="none",
        arguments=Look,
        result=Summary,
        function=summary,
        text=lambda result: result.summary,
        roles=EVERYONE,
    ),
)
