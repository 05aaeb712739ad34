"""Knowing what there is to know of a task, and noting what others should know."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from moot.board import checkpoints, claims, context
from moot.board.checkpoints import Checkpoint, Note, Type
from moot.board.context import Include
from moot.core import clock
from moot.core.ids import TaskId
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.tools import doing, isolation
from moot.tools.plans import Lines
from moot.tools.shapes import Arguments, Detail, Id, Limit, Prose, Result, written
from moot.workspaces import plain
from moot.workspaces.workspaces import Workspace

MOST_TOKENS = 200_000
_MOST_OF_TROUBLE = 1000  # characters


class Wanted(Arguments):
    workflow_plan: bool = True
    prior_task_outcomes: bool = True
    dependency_outcomes: bool = True
    siblings: bool = True
    recent_checkpoints: Annotated[int, Field(ge=0, le=10_000)] = context.RECENT
    all_checkpoints: Annotated[bool, Field(description="For taking up again what somebody left.")] = False


class LoadContext(Arguments):
    task_id: Id
    include: Wanted = Wanted()
    max_tokens: Annotated[int, Field(ge=100, le=MOST_TOKENS)] = context.DEFAULT_TOKENS


class AddCheckpoint(Arguments):
    task_id: Id
    type: Type
    summary: Annotated[Prose, Field(min_length=1)]
    detail: Detail = Field(default_factory=dict[str, JsonValue])
    files_changed: Lines = ()


class ListCheckpoints(Arguments):
    task_id: Id
    before: Annotated[int | None, Field(ge=1, description="Only those with a lower number.")] = None
    limit: Limit = 20


class CheckpointCard(Result):
    id: str
    number: int
    type: Type
    summary: str
    detail: dict[str, JsonValue]
    files_changed: tuple[str, ...]
    agent_id: str
    created_at: str


class Where(Result):
    """The worktree that a task is worked on in."""

    workspace_id: str
    branch: str
    worktree_path: str | None = None
    waiting: str | None = None
    error: str | None = None


class LoadedContext(Result):
    workflow: Mapping[str, JsonValue]
    current_task: Mapping[str, JsonValue]
    dependency_outcomes: tuple[JsonValue, ...]
    prior_tasks: tuple[JsonValue, ...]
    siblings: tuple[JsonValue, ...]
    workspace: Where | None = None
    cut: tuple[str, ...]
    tokens: int


class Checkpoints(Result):
    checkpoints: tuple[CheckpointCard, ...]
    total: int


async def load_context(call: Call, arguments: LoadContext) -> LoadedContext:
    include = Include(**arguments.include.model_dump())

    def look(tx: ReadTx) -> LoadedContext:
        task = doing.known(tx, call.caller, arguments.task_id)
        where = _where(isolation.where(tx, task))
        taken = 0 if where is None else context.size(where.model_dump_json())
        found = context.load(tx, task, include, arguments.max_tokens - taken)
        told = {name: getattr(found, name) for name in LoadedContext.model_fields if hasattr(found, name)}
        return LoadedContext.model_validate({**told, "workspace": where, "tokens": found.tokens + taken})

    return await call.read(look)


def _where(one: Workspace | None) -> Where | None:
    if one is None:
        return None
    trouble = None if one.error is None else str(one.error)[:_MOST_OF_TROUBLE]
    return Where(
        workspace_id=one.id,
        branch=one.branch,
        worktree_path=one.path,
        waiting=plain.WAITING[one.wanted],
        error=trouble,
    )


async def add_checkpoint(call: Call, arguments: AddCheckpoint) -> CheckpointCard:
    note = Note(arguments.type, arguments.summary, dict(arguments.detail), arguments.files_changed)

    def change(tx: Tx) -> CheckpointCard:
        task = doing.held(tx, call.caller, TaskId(arguments.task_id))
        claims.renew(tx, task)
        return _checkpoint(checkpoints.add(tx, task, note, doing.holder_of(task)))

    return await call.write(change)


async def list_checkpoints(call: Call, arguments: ListCheckpoints) -> Checkpoints:
    def look(tx: ReadTx) -> Checkpoints:
        task = doing.known(tx, call.caller, arguments.task_id)
        found = checkpoints.latest(tx, task.id, arguments.limit, arguments.before or checkpoints.ENDLESS)
        cards = tuple(_checkpoint(one) for one in reversed(found))
        return Checkpoints(checkpoints=cards, total=checkpoints.count(tx, task.id))

    return await call.read(look)


def _checkpoint(one: Checkpoint) -> CheckpointCard:
    return CheckpointCard(
        id=one.id,
        number=one.number,
        type=one.type,
        summary=one.summary,
        detail=dict(one.detail),  # pyright: ignore[reportArgumentType]  # stored JSON is JSON
        files_changed=one.files,
        agent_id=one.agent,
        created_at=clock.to_iso(one.at),
    )


TOOLS = (
    Tool(
        name="task_load_context",
        group="tasks",
        words="Load what you need to know for a task; with all_checkpoints to take up what somebody left.",
        effect="none",
        arguments=LoadContext,
        result=LoadedContext,
        function=load_context,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="checkpoint_add",
        group="tasks",
        words="Note what you have done, decided or run into, so that somebody else could go on from there.",
        effect="store",
        arguments=AddCheckpoint,
        result=CheckpointCard,
        function=add_checkpoint,
        text=written,
    ),
    Tool(
        name="checkpoint_list",
        group="tasks",
        words="Read what was noted of a task, the last ones.",
        effect="none",
        arguments=ListCheckpoints,
        result=Checkpoints,
        function=list_checkpoints,
        text=written,
        roles=EVERYONE,
    ),
)
