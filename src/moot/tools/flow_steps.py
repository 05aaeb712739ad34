"""One step of a flow at a time, for the agent that drives it or does one of its tasks: get it, say what came of it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core.ears import Change, Word
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.core.tool import Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions import template
from moot.engine.flow import flows, forks, history, inbox, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import MAIN, Strand
from moot.engine.state import fields, paths
from moot.engine.state.operations import MISSING, Missing, Present
from moot.engine.state.paths import Path
from moot.engine.steps.results import RESULT
from moot.tools import advancing, flow_access, flow_shapes
from moot.tools.flow_access import FlowRefused
from moot.tools.flow_shapes import NextStep, StepId
from moot.tools.shapes import Arguments, Detail, Id, Prose, Result, written

WAIT_SECONDS = 20.0
PATIENCE = 2.0  # seconds after which whoever asks is told that something is waited for
_RULES = frozenset(("validation", "options", "schema"))  # of a definition: what a result has to be like
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
    step_id: Annotated[StepId, Field(description="The id of the step that you were given.")]
    status: Literal["success", "failed"] = "success"
    result: Annotated[JsonValue, Field(description="What came of it, if the step says that it has a result.")] = None
    error: Annotated[Prose, Field(description="Why it failed.")] = ""
    sub_agent_context: Context = None


class Completed(Result):
    success: bool = True  # of what was said: not if it was a success, and the step did not let it pass
    waiting: str | None = None  # the same call again goes on waiting
    error: str | None = None  # what is wrong with the step, if its rules did not let it pass


async def next_step(call: Call, arguments: NextArguments) -> NextStep:
    first = await call.read(lambda tx: _first(tx, call, arguments))
    if isinstance(first, NextStep):
        return first
    if first == "unbegun":
        await call.upkeep(lambda tx: _begin(tx, call, arguments))
    for seconds in (PATIENCE, WAIT_SECONDS - PATIENCE):
        found = await call.wait(lambda tx: _next(tx, call, arguments), seconds)
        if found is not None:
            return found
        if await call.read(lambda tx: _is_long(tx, call, arguments)):
            break
    return await call.read(lambda tx: _next(tx, call, arguments) or _waiting(tx, call, arguments))


def _first(tx: ReadTx, call: Call, arguments: NextArguments) -> NextStep | Literal["unbegun"] | None:
    """What there is at once, most often all that is needed; or that something is to be noted first."""
    flow, strand = _meant(tx, call, arguments)
    is_unbegun = strand.holder is None or strand.status == "ready"
    is_refused = strand.work is not None and bool(strand.work.refused)
    return "unbegun" if is_unbegun or is_refused else _pending(tx, flow, strand)


def _begin(tx: Tx, call: Call, arguments: NextArguments) -> None:
    """Who comes first for a task has it, and it goes on from now. To what is handed out again the same may be said."""
    tx.lock("flows", arguments.workflow_id)
    flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
    strand = flow_access.strand(tx, flow, arguments.sub_agent_context)
    flow_access.taken(tx, call.caller, flow, strand)
    if strand.status == "ready" and flow.is_live:
        advancing.submit(tx, flow, "begin", {}, strand.number)
    elif strand.work is not None and strand.work.refused:
        strands.put(tx, replace(strand, work=replace(strand.work, refused="")))


def _next(tx: ReadTx, call: Call, arguments: NextArguments) -> NextStep | None:
    return _pending(tx, *_meant(tx, call, arguments))


def _pending(tx: ReadTx, flow: Flow, strand: Strand) -> NextStep | None:
    """The step that is to be done, or that there is none; None while it is not known."""
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
    strand = flow_access.strand(tx, flow, arguments.sub_agent_context)
    flow_access.check(tx, call.caller, flow, strand)
    return flow, strand


def _over(tx: ReadTx, flow: Flow, strand: Strand) -> NextStep:
    if strand.number != MAIN:
        status = "completed" if strand.status == "done" else "failed"
        return NextStep(status=status, executed=flow_shapes.executed(tx, flow, strand), error=strand.error or None)
    if flow.status == "completed":
        return NextStep(status="completed", executed=flow_shapes.executed(tx, flow, strand))
    is_lost = flow.status != "failed" or flow_access.is_in_vain(tx, flow)
    remedy = "Start it again." if is_lost else "Mend what is wrong, then workflow_resume."
    raise FlowRefused(
        {"code": "WORKFLOW_FAILED", "message": f"{flow.name} is {flow.status}: {flow.error}", "remedy": remedy}
    )


async def complete(call: Call, arguments: Complete) -> Completed:
    return await _told(call, arguments) or await _submitted(call, arguments)


async def _told(call: Call, arguments: Complete) -> Completed | None:
    """Said to whoever has the flow in hand in this process; None if nobody has, or that one would rather find it in the
    store."""
    ear = call.ears.find(arguments.workflow_id)
    word = None if ear is None else await call.read(lambda tx: _word(tx, call, arguments))
    if ear is None or word is None:
        return None

    async def write(change: Change) -> Completed:
        return await call.write(lambda tx: _completed(arguments, str(change(tx).get("error_text", ""))))

    return await ear.hear(word, write)


def _word(tx: ReadTx, call: Call, arguments: Complete) -> Word | None:
    """None if it is no news, or not well said: the answer to that depends on what is on record of this call."""
    try:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        strand = flow_access.strand(tx, flow, arguments.sub_agent_context)
        flow_access.check(tx, call.caller, flow, strand)
        if strand.step_id != arguments.step_id or strand.status != "pending":
            return None
        body = _body(tx, flow, strand, arguments)
    except MootError:
        return None
    return None if _is_refused(strand, body) else Word(strand.number, body, flow.version, tx.now)


async def _submitted(call: Call, arguments: Complete) -> Completed:
    """Left in the store for whoever advances the flow, and what that one says to it."""

    def change(tx: Tx) -> Completed:
        tx.lock("flows", arguments.workflow_id)  # who says it twice at once has one answer
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        strand = flow_access.strand(tx, flow, arguments.sub_agent_context)
        flow_access.check(tx, call.caller, flow, strand)
        if strand.step_id != arguments.step_id or strand.status != "pending":
            return _repeated(tx, flow, strand, arguments)
        waiting = inbox.open_for(tx, flow.id, strand.number, "complete")
        if waiting is None:
            body = _body(tx, flow, strand, arguments)
            if strand.work is not None and _is_refused(strand, body):
                return _completed(arguments, str(strand.work.definition["previous_error"]))
            waiting = advancing.submit(tx, flow, "complete", body, strand.number)
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
    return _completed(arguments, str(said.get("error_text", "")))


def _is_refused(strand: Strand, body: Mapping[str, Json]) -> bool:
    """Whether the same would not do before."""
    refused = "" if strand.work is None else strand.work.refused
    return refused != "" and refused == inbox.mark(body)


def _completed(said: Complete, error: str) -> Completed:
    """To say that a step has failed is no failure itself."""
    return Completed(success=not error or said.status == "failed", error=error or None)


def _body(tx: ReadTx, flow: Flow, strand: Strand, said: Complete) -> dict[str, Json]:
    """ResultMissing if the step is to write a result, and nobody has given or written one."""
    assert strand.work is not None
    body: dict[str, Json] = {
        "step_id": said.step_id,
        "status": said.status,
        "result": said.result,
        "error": said.error,
    }
    update = strand.work.definition.get("state_update")
    if said.status == "failed" or update is None or "result" in said.model_fields_set:
        return body
    if strand.work.type == forks.TASKS:  # whose result is what came of the tasks
        return body
    path = str(_object(update)["path"])
    there = _written(tx, strand, paths.parse(path))
    if isinstance(there, Missing):
        raise ResultMissing(f"{said.step_id} writes its result to {path}.", "Give `result`, or update the state first.")
    if not _RULES & strand.work.definition.keys():
        return {**body, "is_written": True}
    if not _is_whole(_object(update)):
        raise ResultMissing(f"What was written to {path} is not all of the result, which is checked.", "Give `result`.")
    return {**body, "result": there}


def _written(tx: ReadTx, strand: Strand, path: Path) -> Present:
    """What is at its place, if it came after the step was given out."""
    assert strand.work is not None
    found = flows.field(tx, strand.flow, strand.work.inside + path.key)
    if found is None or found.version <= strand.since:
        return MISSING
    return fields.read({path.key: found.value}, path)


def _is_whole(update: Mapping[str, Json]) -> bool:
    """Whether the result itself stands at its place, and nothing that was made of it."""
    lone = template.parse(str(update["value"])).lone
    return "operation" not in update and lone is not None and lone.code == RESULT and not lone.filters


def _repeated(tx: ReadTx, flow: Flow, strand: Strand, said: Complete) -> Completed:
    """Done before: that is well. Another step: that is a mistake."""
    done = history.last_of_agent(tx, flow.id, strand.number, said.step_id)
    if done is not None:
        return _completed(said, done.error)
    if any(one.id == said.step_id for one in flow_shapes.executed(tx, flow, strand)):  # of which it was told
        return Completed()
    now = f"{strand.step_id} is." if strand.status == "pending" else "moot is at work on it."
    raise StepNotPending(
        f"{said.step_id[:200]} is not the step to be done now: {now}", "Ask with workflow_get_next_step."
    )


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
