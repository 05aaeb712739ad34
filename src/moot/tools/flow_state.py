"""The state of a flow: read it in one flat space of names, change what is raw, and see what is made from what."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import FailFast, Field, JsonValue

from moot.core import json
from moot.core.json import Json
from moot.core.library import Files
from moot.core.nearest import hint
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine.files import compiling
from moot.engine.flow import flows, history, inbox, strands
from moot.engine.flow.flows import Flow, FlowOver
from moot.engine.state import fields, paths
from moot.engine.state.operations import Missing, Operation
from moot.tools import acting, advancing, flow_access
from moot.tools.flow_access import FieldUnknown, FlowRefused
from moot.tools.shapes import Arguments, Id, Name, Result, written

WAIT_SECONDS = 20.0
StatePath = Annotated[str, Field(min_length=1, max_length=2000)]


class UpdateShape(Arguments):
    path: Annotated[StatePath, Field(description="raw.NAME or state.NAME, and keys in it.")]
    value: JsonValue = None
    operation: Operation = "set"


class Read(Arguments):
    workflow_id: Id
    paths: Annotated[
        tuple[StatePath, ...] | None, Field(max_length=1000, strict=False, description="Default: everything.")
    ] = None
    checkpoint_id: Annotated[Id | None, Field(description="The state as it was kept then.")] = None


class Update(Arguments):
    workflow_id: Id
    updates: Annotated[tuple[UpdateShape, ...], Field(min_length=1, max_length=1000, strict=False), FailFast()]


class Dependencies(Arguments):
    workflow_id: Id
    field: Annotated[Name, Field(description="A computed field, by its name.")]


class State(Result):
    state: Mapping[str, JsonValue]
    version: int


class Updated(Result):
    success: bool = True
    computed: Mapping[str, JsonValue] = Field(default_factory=dict, description="Computed fields that have changed.")
    version: int | None = None
    waiting: str | None = None  # the same call again goes on waiting


class DependencyCard(Result):
    direct_deps: tuple[str, ...]
    all_deps: tuple[str, ...]
    dependents: tuple[str, ...]


async def read(call: Call, arguments: Read) -> State:
    """What was submitted before is seen: it waits until that was taken in."""
    await call.wait(lambda tx: _settled(tx, call, arguments.workflow_id), WAIT_SECONDS)
    return await call.read(lambda tx: _state(tx, call, arguments))


def _settled(tx: ReadTx, call: Call, id: str) -> Flow | None:
    flow = flow_access.flow(tx, call.caller, id)
    return flow if not flow.is_live or (flow.status != "starting" and inbox.is_empty(tx, flow.id)) else None


def _state(tx: ReadTx, call: Call, arguments: Read) -> State:
    flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
    if arguments.checkpoint_id is not None:
        kept = next((one for one in history.checkpoints(tx, flow.id) if one.id == arguments.checkpoint_id), None)
        if kept is None:
            raise FlowRefused({"code": "CHECKPOINT_NOT_FOUND", "message": "There is no such checkpoint.", "remedy": ""})
        return State(state=dict(kept.state), version=kept.version)  # pyright: ignore[reportArgumentType]
    known = _of_caller(tx, call, flow)
    found: dict[str, Json] = {**fields.flat(known)}
    if arguments.paths is not None:
        looked_up = ((path, fields.look_up(known, path)) for path in arguments.paths)
        found = {path: value for path, value in looked_up if not isinstance(value, Missing)}
    return State(state=found, version=flow.version)  # pyright: ignore[reportArgumentType]  # stored JSON is JSON


def _of_caller(tx: ReadTx, call: Call, flow: Flow) -> fields.Fields:
    """Of an included workflow, for who has a step of it in hand: what is written then is read there, too."""
    known = flows.fields(tx, flow.id)
    pending = strands.pending(tx, flow.id) if flow.is_live else []
    own = acting.own(tx, call.caller, [one.holder for one in pending if one.holder is not None])
    places = {one.work.inside for one in pending if one.work is not None and one.holder in own}
    if len(places) != 1:
        return known
    (prefix,) = places
    return {key.removeprefix(prefix): text for key, text in known.items() if key.startswith(prefix)}


async def update(call: Call, arguments: Update) -> Updated:
    said: list[Json] = [{"path": one.path, "value": one.value, "operation": one.operation} for one in arguments.updates]
    for one in arguments.updates:
        paths.writable(paths.parse(one.path))  # before anything is submitted

    def change(tx: Tx) -> Updated:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        if not flow.is_live:
            raise FlowOver(f"{flow.name} is {flow.status}.", "Its state does not change any more.")
        holders = strands.held(tx, flow.id)
        own = acting.own(tx, call.caller, holders.values())
        held: list[Json] = [number for number, holder in holders.items() if holder in own]
        _check(tx, call, flow, held)
        return Updated(waiting=advancing.submit(tx, flow, "update", {"updates": said, "strands": held}))

    begun = await call.write(change)
    waiting = begun.waiting
    assert waiting is not None
    answer = await call.wait(lambda tx: inbox.answered(tx, waiting), WAIT_SECONDS)
    if answer is None:
        return begun
    error = answer.get("error")
    if isinstance(error, Mapping):
        raise FlowRefused(error)
    return Updated.model_validate_json(json.dumps(answer))


def _check(tx: ReadTx, call: Call, flow: Flow, held: Sequence[Json]) -> None:
    """Whoever works on a part of it may change the state, which is everybody's."""
    if not held and call.caller.role != "operator":
        flow_access.check(tx, call.caller, flow, strands.get(tx, flow.id))


async def dependencies(call: Call, arguments: Dependencies) -> DependencyCard:
    def look(tx: ReadTx) -> tuple[Files, Mapping[str, str]]:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        return flows.files(tx, flow.id), flows.fields(tx, flow.id)

    files, known = await call.read(look)
    schema = (await asyncio.to_thread(compiling.compiled, files)).schema
    name = arguments.field.removeprefix("computed.")
    if name not in schema.computed:
        key = name if name.startswith(("raw.", "state.")) else fields.key_of(known, name)
        dependents = tuple(schema.dependents(key))
        if not dependents and key not in known and key.partition(".")[2] not in schema.names:
            raise FieldUnknown(f"There is no field {name[:80]!r}.", hint(name, schema.names))
        return DependencyCard(direct_deps=(), all_deps=(), dependents=dependents)
    return DependencyCard(
        direct_deps=tuple(sorted(schema.sources_of(name))),
        all_deps=tuple(sorted(schema.all_sources_of(name))),
        dependents=tuple(schema.dependents(f"computed.{name}")),
    )


TOOLS = (
    Tool(
        name="workflow_state_read",
        group="state",
        words="Read the state of a workflow, each field under its own name.",
        effect="none",
        arguments=Read,
        result=State,
        function=read,
        text=lambda result: json.dumps(result.state),
        roles=EVERYONE,
        waits=True,
    ),
    Tool(
        name="workflow_state_update",
        group="state",
        words="Change raw fields of a workflow's state; you are told what has changed with them.",
        effect="store",
        arguments=Update,
        result=Updated,
        function=update,
        text=written,
        waits=True,
    ),
    Tool(
        name="workflow_state_dependencies",
        group="state",
        words="See what a field is made from, and what is made from it.",
        effect="none",
        arguments=Dependencies,
        result=DependencyCard,
        function=dependencies,
        text=written,
        roles=EVERYONE,
    ),
)
