"""Flows for the agents that drive them: start one by name, get one step at a time, say what came of it."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core import clock, permissions
from moot.core.errors import MootError, NotAllowed
from moot.core.json import Json
from moot.core.library import Source
from moot.core.tool import Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine import beginning, compiling, flows, forks, history, inbox, resuming, strands
from moot.engine.definition import Definition
from moot.engine.flows import Flow, FlowOver, NewFlow
from moot.engine.state import fields, paths
from moot.engine.state.operations import Missing
from moot.engine.state.paths import Path
from moot.engine.strands import MAIN, Strand
from moot.tools import acting, advancing, flow_access, flow_shapes
from moot.tools.flow_access import FlowRefused
from moot.tools.flow_shapes import NextStep
from moot.tools.shapes import Arguments, Detail, Id, Name, Prose, Result, written

WAIT_SECONDS = 20.0
PATIENCE = 2.0  # seconds after which whoever asks is told that something is waited for
Context = Annotated[
    Detail | None, Field(description="For sub-agents: {task_id} as it was handed out. Nothing else of it counts.")
]


class StepNotPending(MootError):
    """Another step is the one to be done now."""

    code = "STEP_NOT_PENDING"


class ResultMissing(MootError):
    """The step writes a result, and there is none."""

    code = "RESULT_MISSING"


class Start(Arguments):
    workflow: Annotated[Name, Field(description="Its name, such as standards:fix.")]
    inputs: Annotated[Detail, Field(description="What workflow_get_info says it needs.")] = Field(default_factory=dict)


class NextArguments(Arguments):
    workflow_id: Id
    sub_agent_context: Context = None


class Complete(Arguments):
    workflow_id: Id
    step_id: Annotated[Name, Field(description="The id of the step that you were given.")]
    status: Literal["success", "failed"] = "success"
    result: Annotated[JsonValue, Field(description="What came of it, if the step says that it has a result.")] = None
    error: Annotated[Prose, Field(description="Why it failed.")] = ""
    sub_agent_context: Context = None


class Keep(Arguments):
    workflow_id: Id
    step_id: Annotated[Name, Field(description="Where you are.")] = ""
    reason: Annotated[Prose, Field(description="Why.")] = ""


class Resume(Arguments):
    workflow_id: Id


class End(Arguments):
    workflow_id: Id
    status: Literal["success", "failed", "cancelled"] = "success"


class Started(Result):
    workflow_id: str
    state: Mapping[str, JsonValue] = {}
    warnings: tuple[str, ...] = ()


class Completed(Result):
    success: bool = True
    waiting: str | None = None  # the same call again goes on waiting
    error: str | None = None  # what is wrong with the step, if its rules did not let it pass


class Kept(Result):
    checkpoint_id: str
    state_path: str


class LastCheckpoint(Result):
    step_id: str
    timestamp: str


class Resumed(Result):
    workflow_id: str
    state: Mapping[str, JsonValue]
    last_checkpoint: LastCheckpoint | None = None


class Ended(Result):
    success: bool
    final_state: Mapping[str, JsonValue]


async def start(call: Call, arguments: Start) -> Started:
    source = await asyncio.to_thread(call.library.find, arguments.workflow)
    definition = await asyncio.to_thread(compiling.compiled, source.files)
    given = beginning.inputs(definition, _json(arguments.inputs))

    def change(tx: Tx) -> Started:
        instance = acting.instance_of(tx, call.caller)
        _check_commands(tx, call, definition)
        new = NewFlow(
            instance=instance.name,
            stream=instance.stream,
            name=definition.name,
            source=source.path,
            files=source.files,
            given=given,
            driver="agent",
            holder=flow_access.holder(tx, call.caller),
            role=call.caller.role,
            tool_groups=call.caller.groups,
        )
        flow = flows.create(tx, new)
        advancing.advance(tx, flow.id, flow.stream)
        return Started(workflow_id=flow.id, warnings=_warnings(source, definition))

    begun = await call.write(change)
    flow = await _moved_on(call, begun.workflow_id)
    if flow.status == "failed":
        raise FlowRefused({"code": "WORKFLOW_FAILED", "message": flow.error, "remedy": "Correct it and start again."})
    state = await call.read(lambda tx: flow_shapes.state(tx, flow))
    return Started(workflow_id=begun.workflow_id, state=state, warnings=begun.warnings)


async def next_step(call: Call, arguments: NextArguments) -> NextStep:
    if await call.read(lambda tx: _is_unbegun(tx, call, arguments)):
        await call.upkeep(lambda tx: _begin(tx, call, arguments))
    for seconds in (PATIENCE, WAIT_SECONDS - PATIENCE):
        found = await call.wait(lambda tx: _next(tx, call, arguments), seconds)
        if found is not None:
            return found
        if await call.read(lambda tx: _is_long(tx, call, arguments)):
            break
    return await call.read(lambda tx: _next(tx, call, arguments) or _waiting(tx, call, arguments))


def _is_unbegun(tx: ReadTx, call: Call, arguments: NextArguments) -> bool:
    _, strand = _meant(tx, call, arguments)
    return strand.holder is None or strand.status == "ready"


def _begin(tx: Tx, call: Call, arguments: NextArguments) -> None:
    """Who comes first for a task has it, and it goes on from now."""
    flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
    strand = flow_access.strand(tx, flow, _context(arguments.sub_agent_context))
    flow_access.taken(tx, call.caller, flow, strand)
    if strand.status == "ready" and flow.is_live:
        advancing.submit(tx, flow, "begin", {}, strand.number)


def _next(tx: ReadTx, call: Call, arguments: NextArguments) -> NextStep | None:
    """The step that is to be done, or that there is none; None while it is not known."""
    flow, strand = _meant(tx, call, arguments)
    if not flow.is_live or (strand.is_over and strand.number != MAIN):
        return _over(tx, flow, strand)
    if strand.status != "pending" or not inbox.is_empty(tx, flow.id):
        return None
    executed = flow_shapes.executed(tx, flow, strand)
    return NextStep(step=flow_shapes.step(flow, strand), status=flow.status, executed=executed)


def _waiting(tx: ReadTx, call: Call, arguments: NextArguments) -> NextStep:
    flow, strand = _meant(tx, call, arguments)
    executed = flow_shapes.executed(tx, flow, strand)
    return NextStep(step=flow_shapes.waiting(flow, strand), status=flow.status, executed=executed)


def _is_long(tx: ReadTx, call: Call, arguments: NextArguments) -> bool:
    """Whether it waits for what may take long, so that its driver had better be told."""
    _, strand = _meant(tx, call, arguments)
    return strand.status == "waiting" and strand.work is not None and strand.work.type == "wait"


def _meant(tx: ReadTx, call: Call, arguments: NextArguments) -> tuple[Flow, Strand]:
    flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
    strand = flow_access.strand(tx, flow, _context(arguments.sub_agent_context))
    flow_access.check(tx, call.caller, flow, strand)
    return flow, strand


def _over(tx: ReadTx, flow: Flow, strand: Strand) -> NextStep:
    if strand.number != MAIN:
        status = "completed" if strand.status == "done" else "failed"
        return NextStep(status=status, executed=flow_shapes.executed(tx, flow, strand), error=strand.error or None)
    if flow.status == "completed":
        return NextStep(status="completed", executed=flow_shapes.executed(tx, flow, strand))
    remedy = "Mend what is wrong, then workflow_resume." if flow.status == "failed" else "Start it again."
    raise FlowRefused(
        {"code": "WORKFLOW_FAILED", "message": f"{flow.name} is {flow.status}: {flow.error}", "remedy": remedy}
    )


async def complete(call: Call, arguments: Complete) -> Completed:
    def change(tx: Tx) -> Completed:
        tx.lock("flows", arguments.workflow_id)  # who says it twice at once has one answer
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        strand = flow_access.strand(tx, flow, _context(arguments.sub_agent_context))
        flow_access.check(tx, call.caller, flow, strand)
        if strand.step_id != arguments.step_id or strand.status != "pending":
            return _repeated(tx, flow, strand, arguments)
        waiting = inbox.open_for(tx, flow.id, strand.number, "complete")
        if waiting is None:
            waiting = advancing.submit(tx, flow, "complete", _body(tx, flow, strand, arguments), strand.number)
        return Completed(waiting=waiting)

    begun = await call.write(change)
    if begun.waiting is None:
        return begun
    waiting = begun.waiting
    said = await call.wait(lambda tx: inbox.answered(tx, waiting), WAIT_SECONDS)
    if said is None:
        return begun
    if "error" in said:
        raise FlowRefused(_object(said["error"]))
    return Completed(error=str(said["error_text"]) if "error_text" in said else None)


def _body(tx: ReadTx, flow: Flow, strand: Strand, said: Complete) -> dict[str, Json]:
    """ResultMissing if the step is to write a result, and nobody has given or written one."""
    assert strand.work is not None
    body: dict[str, Json] = {
        "step_id": said.step_id,
        "status": said.status,
        "result": _json_value(said.result),
        "error": said.error,
    }
    update = strand.work.definition.get("state_update")
    if said.status == "failed" or update is None or "result" in said.model_fields_set:
        return body
    if strand.work.type == forks.TASKS:  # whose result is what came of the tasks
        return body
    path = str(_object(update)["path"])
    if not _is_written(tx, strand, paths.parse(path)):
        raise ResultMissing(f"{said.step_id} writes its result to {path}.", "Give `result`, or update the state first.")
    return {**body, "is_written": True}


def _is_written(tx: ReadTx, strand: Strand, path: Path) -> bool:
    """Whether there is something at its place that came after it was given out."""
    assert strand.work is not None
    found = flows.field(tx, strand.flow, strand.work.inside + path.key)
    if found is None or found.version <= strand.since:
        return False
    return not isinstance(fields.read({path.key: found.value}, path), Missing)


def _repeated(tx: ReadTx, flow: Flow, strand: Strand, said: Complete) -> Completed:
    """Done before: that is well. Another step: that is a mistake."""
    done = history.last_of(tx, flow.id, strand.number, said.step_id)
    if done is not None:
        return Completed(error=done.error or None)
    now = f"{strand.step_id} is." if strand.status == "pending" else "moot is at work on it."
    raise StepNotPending(
        f"{said.step_id[:200]} is not the step to be done now: {now}", "Ask with workflow_get_next_step."
    )


async def keep(call: Call, arguments: Keep) -> Kept:
    def change(tx: Tx) -> Kept:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        step = arguments.step_id or strands.get(tx, flow.id).step_id
        id = history.keep(tx, flow.id, step, arguments.reason, flow.version, flow_shapes.state(tx, flow))
        return Kept(checkpoint_id=id, state_path=f"moot://workflows/{flow.id}/checkpoints/{id}")

    return await call.write(change)


async def resume(call: Call, arguments: Resume) -> Resumed:
    """Take it over, and go on with what had failed."""

    def change(tx: Tx) -> Resumed:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        if flow.driver == "moot":
            raise NotAllowed(f"{flow.name} is carried out by moot itself.", f"Run: moot resume @{flow.instance}.")
        if flow.status in ("completed", "abandoned"):
            raise FlowOver(f"{flow.name} is {flow.status}.", "Start it again with workflow_start.")
        flow_access.check_free(tx, call.caller, flow)
        flows.hand_over(tx, flow, flow_access.holder(tx, call.caller))
        if flow.status == "failed":
            definition = compiling.compiled(flows.files(tx, flow.id))
            resuming.resume(tx, flows.get(tx, flow.id), definition)
        advancing.advance(tx, flow.id, flow.stream)
        last = history.last_steps(tx, flow.id, 1)
        checkpoint = [LastCheckpoint(step_id=one.step_id, timestamp=clock.to_iso(one.ended_at)) for one in last]
        state = flow_shapes.state(tx, flow)
        return Resumed(workflow_id=flow.id, state=state, last_checkpoint=checkpoint[0] if checkpoint else None)

    return await call.write(change)


async def end(call: Call, arguments: End) -> Ended:
    def change(tx: Tx) -> Ended:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        flow_access.check(tx, call.caller, flow, strands.get(tx, flow.id))
        wanted = {"success": "completed", "failed": "failed", "cancelled": "abandoned"}[arguments.status]
        if not flow.is_live and flow.status != wanted:
            raise FlowOver(f"{flow.name} is {flow.status} already.", "Nothing is left to do.")
        if flow.is_live and arguments.status == "success":
            raise FlowOver(f"{flow.name} has steps left.", "Do them, or say failed or cancelled.")
        if flow.is_live:
            status = "failed" if arguments.status == "failed" else "abandoned"
            flows.end(tx, flow, status, f"{call.caller.name} has ended it")
            for strand in strands.of_flow(tx, flow.id).values():
                strands.put(tx, forks.over(strand, "The workflow was ended."))
                advancing.withdraw(tx, flow, strand)
        return Ended(success=arguments.status == "success", final_state=flow_shapes.state(tx, flow))

    return await call.write(change)


async def _moved_on(call: Call, id: str) -> Flow:
    """Once its state is there."""

    def ready(tx: ReadTx) -> Flow | None:
        found = flow_access.flow(tx, call.caller, id)
        return None if found.status == "starting" else found

    found = await call.wait(ready, WAIT_SECONDS)
    return found or await call.read(lambda tx: flow_access.flow(tx, call.caller, id))


def _check_commands(tx: Tx, call: Call, definition: Definition) -> None:
    """Commands of a definition are run for whoever starts it, who must be allowed to run some."""
    if call.caller.role == "operator" or not definition.runs_commands:
        return
    agent = acting.agent_for(tx, call.caller, None)
    if permissions.said(agent.settings.get("permissions")).shell != "allow" and agent.is_started_by_moot:
        raise NotAllowed(f"{agent.name} may not run commands by itself.", f"Have a person start {definition.name}.")


def _warnings(source: Source, definition: Definition) -> tuple[str, ...]:
    shadows = (f"{source.path} is used, and not {source.shadows}.",) if source.shadows else ()
    return (*shadows, *definition.warnings)


def _context(said: Mapping[str, JsonValue] | None) -> Mapping[str, Json] | None:
    return None if said is None else _json(said)


def _json(said: Mapping[str, JsonValue]) -> dict[str, Json]:
    return {key: _json_value(value) for key, value in said.items()}


def _json_value(value: JsonValue) -> Json:
    found: Json = value
    return found


def _object(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping)
    return value


TOOLS = (
    Tool(
        name="workflow_start",
        group="flow",
        words="Begin a workflow of steps by its name; then ask for one step after the other.",
        effect="store",
        arguments=Start,
        result=Started,
        function=start,
        text=written,
        waits=True,
    ),
    Tool(
        name="workflow_get_next_step",
        group="flow",
        words="Get the step that you are to do now. The same one until you complete it; null when all is done.",
        effect="store",
        arguments=NextArguments,
        result=NextStep,
        function=next_step,
        text=written,
        waits=True,
        is_fresh=True,
    ),
    Tool(
        name="workflow_step_complete",
        group="flow",
        words="Say that a step is done, with its result, or that it failed and why.",
        effect="store",
        arguments=Complete,
        result=Completed,
        function=complete,
        text=written,
        waits=True,
    ),
    Tool(
        name="workflow_checkpoint",
        group="flow",
        words="Keep the state of a workflow as it is now, to look at later. (Every step is kept anyway.)",
        effect="store",
        arguments=Keep,
        result=Kept,
        function=keep,
        text=written,
    ),
    Tool(
        name="workflow_resume",
        group="flow",
        words="Take over a workflow that was interrupted or has failed, and go on with it.",
        effect="store",
        arguments=Resume,
        result=Resumed,
        function=resume,
        text=written,
    ),
    Tool(
        name="workflow_complete",
        group="flow",
        words="Say how a workflow has ended, and get its final state.",
        effect="store",
        arguments=End,
        result=Ended,
        function=end,
        text=written,
    ),
)
