"""One step of a flow at a time, for the agent that drives it or does one of its tasks: get it, say what came of it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.tool import Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine import flows, forks, history, inbox
from moot.engine.flows import Flow
from moot.engine.state import fields, paths
from moot.engine.state.operations import Missing
from moot.engine.state.paths import Path
from moot.engine.strands import MAIN, Strand
from moot.tools import advancing, flow_access, flow_shapes
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


class Completed(Result):
    success: bool = True
    waiting: str | None = None  # the same call again goes on waiting
    error: str | None = None  # what is wrong with the step, if its rules did not let it pass


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
)
