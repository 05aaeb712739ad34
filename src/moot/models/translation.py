"""Our records as pydantic-ai's messages, and its responses as our answers."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from moot.core.json import Json
from moot.core.records import record
from moot.models.keeping import Kept
from moot.models.model import Answer, Call, Request, Results, Said, Stop, ToolSpec, Usage

_STOPS: Mapping[FinishReason | None, Stop] = {
    "stop": "end",
    "tool_call": "tools",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_CONTEXT = "model_context_window_exceeded"  # to Anthropic a reason of its own, to pydantic-ai one more length


@record
class Response:
    """The library's own, that can be written down."""

    response: ModelResponse

    def plain(self) -> Json:
        (found,) = ModelMessagesTypeAdapter.dump_python([self.response], mode="json")
        return cast(Json, found)


def messages(request: Request) -> list[ModelMessage]:
    """In one request of the library goes everything that stands between two answers."""
    found: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    for message in request.messages:
        if isinstance(message, Answer):
            found += [_request(parts, request), _response(message)] if parts else [_response(message)]
            parts = []
        else:
            parts += _parts(message)
    return [*found, _request(parts, request)] if parts else found


def _request(parts: Sequence[ModelRequestPart], request: Request) -> ModelRequest:
    return ModelRequest(parts=parts, instructions=request.system or None)


def _parts(message: Said | Results) -> list[ModelRequestPart]:
    if isinstance(message, Said):
        return [UserPromptPart(message.text)]
    parts: list[ModelRequestPart] = [
        ToolReturnPart(
            one.call.name, one.text, tool_call_id=one.call.id, outcome="failed" if one.is_error else "success"
        )
        for one in message.results
    ]
    return [*parts, UserPromptPart(message.text)] if message.text else parts


def _response(answer: Answer) -> ModelResponse:
    """As its provider gave it, signatures of its thoughts included; made anew if it came from somewhere else."""
    match answer.kept:
        case Response(response):
            return response
        case Kept(data):
            (found,) = ModelMessagesTypeAdapter.validate_python([data])
            assert isinstance(found, ModelResponse)
            return found
        case _:
            pass
    parts: list[ModelResponsePart] = [TextPart(answer.text)] if answer.text else []
    return ModelResponse(parts=[*parts, *(ToolCallPart(one.name, one.arguments, one.id) for one in answer.calls)])


def parameters(tools: Sequence[ToolSpec]) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=one.name, description=one.words, parameters_json_schema=_schema(one)) for one in tools
        ]
    )


def _schema(tool: ToolSpec) -> dict[str, Any]:
    return dict(tool.schema)


def answer(response: ModelResponse, usage: Usage) -> Answer:
    calls = tuple(Call(one.tool_call_id, one.tool_name, _arguments(one)) for one in response.tool_calls)
    text = response.text or (response.provider_details or {}).get("refusal") or ""
    return Answer(text, calls, _stop(response), usage, kept=Response(response))


def is_cut(response: ModelResponse) -> bool:
    """Whether the stream came to its end without saying that this was the end."""
    said = response.provider_details or {}
    is_ended = response.finish_reason or said.get("finish_reason") or said.get("refusal")
    return response.state == "incomplete" or (response.state == "complete" and not is_ended)


def _arguments(call: ToolCallPart) -> str:
    """As the model wrote them, even if that is no JSON: whoever makes the call says so to the model."""
    return (call.args if isinstance(call.args, str) else call.args_as_json_str()) or "{}"


def _stop(response: ModelResponse) -> Stop:
    if response.state == "suspended":
        return "pause"
    if (response.provider_details or {}).get("finish_reason") == _CONTEXT:
        return "context"
    # Where the reason is missing, the library assumes one for servers that never give any.
    is_told = bool(response.provider_details and response.provider_details.keys() & {"finish_reason", "refusal"})
    stop = _STOPS.get(response.finish_reason, "other") if is_told else "other"
    # Not every provider has a word of its own for calls.
    return "tools" if response.tool_calls and stop in ("end", "other") else stop
