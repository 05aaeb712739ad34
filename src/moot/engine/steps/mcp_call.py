"""`mcp_call`: a call of a tool, of moot itself, of a server that is configured, or of whatever the agent has."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine.resolving import text_of
from moot.engine.shape import Shape
from moot.engine.step import Do, Move, Next, Outcome, StepFailed, Visit, Work
from moot.engine.steps import failing, naming, results, spans
from moot.engine.steps.failing import Failing, FailingShape
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.spans import Span
from moot.engine.steps.updating import Change

Params = Mapping[str, JsonValue] | str


class CallShape(Shape):
    method: str = Field(min_length=1, description="The name of the tool; one of a server is SERVER.TOOL")
    params: Params = Field(default_factory=dict[str, JsonValue], description="Its arguments")


class Said(FailingShape):
    mcp: CallShape | None = Field(default=None, description="The call: method and params")
    method: str | None = Field(default=None, min_length=1, description="The name of the tool, without mcp around it")
    params: Params | None = Field(default=None, description="Its arguments, without mcp around them")
    agent: bool | str = Field(
        default=False, description="Whether an agent has to make the call, even if moot could; or its name"
    )
    timeout: Span | None = Field(default=None, description="How long it may take: milliseconds, or 30s, 5m")
    state_update: ResultShape | None = Field(default=None, description="Where the result goes")


@record
class McpCall:
    method: str
    params: Json
    failing: Failing
    is_for_agent: bool = False
    agent: str = ""  # by name
    timeout: Json = None
    writes: Change | None = None


def read(said: Said) -> McpCall:
    if (said.mcp is None) == (said.method is None) or (said.mcp is not None and said.params is not None):
        raise InvalidInput("An mcp_call has one method.", "Write mcp with method and params in it.")
    call = said.mcp or CallShape(method=said.method or "", params=said.params or {})
    return McpCall(
        call.method,
        call.params,
        failing.read(said),
        is_for_agent=bool(said.agent),
        agent=said.agent if isinstance(said.agent, str) else "",
        timeout=said.timeout,
        writes=results.change(said.state_update),
    )


async def take(visit: Visit) -> Move:
    detail: McpCall = visit.step.detail
    made = await visit.resolve({"method": detail.method, "params": detail.params})
    assert isinstance(made.value, Mapping)
    method, params = text_of(made.value["method"]).strip(), made.value["params"]
    if not method:
        raise StepFailed(f"{visit.called} names no method.", "Name the tool to call.")
    if not isinstance(params, Mapping):
        raise StepFailed(f"The params of {visit.called} are no object.", "Give an object: keys and values.")
    definition: dict[str, Json] = {"method": method, "params": params, **await results.shown(visit, detail.writes)}
    if detail.is_for_agent:
        definition |= {"agent": True, **await naming.shown(visit, detail.agent)}
    if detail.timeout is not None:
        definition["timeout"] = spans.millis(await spans.resolved(visit, detail.timeout))
    words = (
        f"Call the tool {method} with these params and complete the step with what it answers."
        f"{results.told(definition)} If the call fails, complete the step as failed and say why."
    )
    original = results.original(detail.method) or results.original(detail.params)
    return Do(Work("mcp_call", words, definition, results.replacements(made.replacements), original))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    detail: McpCall = visit.step.detail
    if outcome.status == "failed":
        return await failing.failed(visit, detail.failing, detail.writes, {"message": results.message(outcome)})
    return Next(await results.updates(visit, detail.writes, {RESULT: outcome.result}))
