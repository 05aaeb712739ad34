"""Looking into a flow: what was computed and how long it took, where it is, and how a transform would behave."""

from time import perf_counter
from typing import Annotated, Any

from pydantic import Field, JsonValue

from moot.core import clock, json
from moot.core.errors import InvalidInput
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx
from moot.engine.expressions import javascript
from moot.engine.expressions.evaluation import Evaluation, Fault, Outcome, Scope, Value
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.history import StepRow, TraceRow
from moot.tools import flow_access
from moot.tools.shapes import Arguments, Detail, Id, Limit, Name, Prose, Result, written


class Traces(Arguments):
    workflow_id: Id
    field: Annotated[Name | None, Field(description="Only this computed field.")] = None
    include_timing: bool = True
    limit: Limit = 100


class Info(Arguments):
    workflow_id: Id
    limit: Annotated[Limit, Field(description="How many of the last steps.")] = 100


class Test(Arguments):
    transform: Annotated[Prose, Field(min_length=1, description="JavaScript; `input` is its input.")]
    input: JsonValue
    context: Annotated[Detail | None, Field(description="Further names that it knows.")] = None


class TraceCard(Result):
    field: str
    timestamp: str
    trigger: str
    input: JsonValue = None
    output: JsonValue = None
    duration_ms: float | None = None
    error: str | None = None


class TraceCards(Result):
    traces: tuple[TraceCard, ...]


class HistoryCard(Result):
    step_id: str
    type: str
    started_at: str
    completed_at: str
    status: str
    error: str | None = None


class SizeCard(Result):
    raw_bytes: int
    computed_bytes: int
    total_transformations: int


class SlowCard(Result):
    field: str
    avg_ms: float


class SpeedCard(Result):
    avg_transformation_time: float
    slowest_transformations: tuple[SlowCard, ...]


class InfoCard(Result):
    current_step: str | None = None
    status: str
    step_history: tuple[HistoryCard, ...]
    state_size: SizeCard
    performance: SpeedCard


class TestCard(Result):
    success: bool
    output: JsonValue = None
    error: str | None = None
    execution_time_ms: float


async def traces(call: Call, arguments: Traces) -> TraceCards:
    def look(tx: ReadTx) -> TraceCards:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        name = None if arguments.field is None else arguments.field.removeprefix("computed.")
        if name is not None:
            flow_access.check_computed(tx, flow, name)
        found = history.traces(tx, flow.id, name, arguments.limit)
        return TraceCards(traces=tuple(_trace(one, arguments.include_timing) for one in found))

    return await call.read(look)


async def info(call: Call, arguments: Info) -> InfoCard:
    return await call.read(lambda tx: _info(tx, flow_access.flow(tx, call.caller, arguments.workflow_id), arguments))


def _info(tx: ReadTx, flow: Flow, arguments: Info) -> InfoCard:
    main = strands.get(tx, flow.id)
    known = flows.fields(tx, flow.id)
    computed = sum(len(text.encode()) for key, text in known.items() if key.startswith("computed."))
    count, mean = history.count_traces(tx, flow.id)
    return InfoCard(
        current_step=main.step_id or None,
        status=flow.status,
        step_history=tuple(_step(one) for one in history.last_steps(tx, flow.id, arguments.limit)),
        state_size=SizeCard(
            raw_bytes=sum(len(text.encode()) for text in known.values()) - computed,
            computed_bytes=computed,
            total_transformations=count,
        ),
        performance=SpeedCard(
            avg_transformation_time=mean / 1000,
            slowest_transformations=tuple(
                SlowCard(field=one.field, avg_ms=one.micros / 1000) for one in history.slowest(tx, flow.id)
            ),
        ),
    )


async def test(call: Call, arguments: Test) -> TestCard:
    context: dict[str, Any] = dict(arguments.context or {})
    names = javascript.free_names(arguments.transform) & context.keys()
    evaluation = Evaluation(
        arguments.transform, names=tuple((name, f"own.{name}") for name in sorted(names)), inputs=("input",)
    )
    scope = {"input": json.dumps(arguments.input), **{f"own.{name}": json.dumps(context[name]) for name in names}}
    return await tried(scope, evaluation)


async def tried(scope: Scope, evaluation: Evaluation) -> TestCard:
    """In a sandbox of its own; nothing is stored."""
    async with Sandbox().open() as sandbox:
        await sandbox.evaluate({}, [Evaluation("1")])  # its start does not count
        began = perf_counter()
        (outcome,) = await sandbox.evaluate(scope, [evaluation])
    return _tested(outcome, (perf_counter() - began) * 1000)


def _tested(outcome: Outcome, millis: float) -> TestCard:
    match outcome:
        case Value():
            found: Any = json.loads(outcome.text)
            return TestCard(success=True, output=found, execution_time_ms=millis)
        case Fault():
            where = f" (line {outcome.line})" if outcome.line else ""
            return TestCard(success=False, error=f"{outcome.message}{where}", execution_time_ms=millis)
        case _:
            return TestCard(success=True, execution_time_ms=millis)


def _trace(one: TraceRow, has_timing: bool) -> TraceCard:
    return TraceCard(
        field=one.field,
        timestamp=clock.to_iso(one.at),
        trigger=one.trigger_key,
        input=_shown(one.input),
        output=None if one.output is None else _shown(one.output),
        duration_ms=one.micros / 1000 if has_timing else None,
        error=one.error or None,
    )


def _shown(text: str) -> Any:
    """The value, or its beginning where only that was kept."""
    try:
        return json.loads(text)
    except InvalidInput:
        return text


def _step(one: StepRow) -> HistoryCard:
    return HistoryCard(
        step_id=one.step_id,
        type=one.type,
        started_at=clock.to_iso(one.started_at),
        completed_at=clock.to_iso(one.ended_at),
        status=one.status,
        error=one.error or None,
    )


TOOLS = (
    Tool(
        name="workflow_trace_transformations",
        group="debug",
        words="See what was computed, from what, and how long it took.",
        effect="none",
        arguments=Traces,
        result=TraceCards,
        function=traces,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_debug_info",
        group="debug",
        words="See where a workflow is, what it has done, and how large and slow its state is.",
        effect="none",
        arguments=Info,
        result=InfoCard,
        function=info,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_test_transformation",
        group="debug",
        words="Try a transform with an input, without a workflow.",
        effect="none",
        arguments=Test,
        result=TestCard,
        function=test,
        text=written,
        roles=EVERYONE,
    ),
)
