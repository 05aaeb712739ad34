"""Anthropic's Messages API."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.fake_models.asked import AskedCall, Result, Talk, Turn
from tests.fake_models.replies import Call, Reply, Stop, Text
from tests.fake_models.wire import Event, arguments, event, joined, pieces

_STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "tools": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "pause": "pause_turn",
    "stop_sequence": "stop_sequence",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def read(body: Mapping[str, Any], path: str) -> Talk:
    names: dict[str, str] = {}
    return Talk(
        model=str(body.get("model", "")),
        system=joined(body.get("system")),
        turns=tuple(_turn(message, names) for message in body.get("messages", ())),
        tools=tuple(tool["name"] for tool in body.get("tools", ()) if "name" in tool),
        is_stream=bool(body.get("stream")),
    )


def _turn(message: Mapping[str, Any], names: dict[str, str]) -> Turn:
    content = message["content"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    calls = tuple(AskedCall(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use")
    names.update({call.id: call.name for call in calls})
    results = tuple(
        Result(b["tool_use_id"], names.get(b["tool_use_id"], ""), joined(b.get("content")), bool(b.get("is_error")))
        for b in blocks
        if b["type"] == "tool_result"
    )
    return Turn(message["role"], joined([b for b in blocks if b["type"] == "text"]), calls, results)


def _message(reply: Reply, talk: Talk) -> dict[str, Any]:
    used = reply.used
    return {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": talk.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.input - used.cache_read - used.cache_write,
            "cache_read_input_tokens": used.cache_read,
            "cache_creation_input_tokens": used.cache_write,
            "output_tokens": used.output,
        },
    }


def whole(reply: Reply, talk: Talk) -> Mapping[str, Any]:
    content = [
        {"type": "text", "text": part.text}
        if isinstance(part, Text)
        else {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.arguments)}
        for part in reply.parts
    ]
    return {**_message(reply, talk), "content": content, "stop_reason": _STOPS[reply.stop]}


def events(reply: Reply, talk: Talk) -> list[Event]:
    return [event(data, is_named=True) for data in _events(reply, talk)]


def _events(reply: Reply, talk: Talk) -> Iterator[dict[str, Any]]:
    message = _message(reply, talk)
    yield {"type": "message_start", "message": {**message, "usage": {**message["usage"], "output_tokens": 1}}}
    for index, part in enumerate(reply.parts):
        yield {"type": "content_block_start", "index": index, "content_block": _opening(part)}
        if index == 0:
            yield {"type": "ping"}
        for delta in _deltas(part, reply.piece):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": _STOPS[reply.stop], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": reply.used.output}}
    yield {"type": "message_stop"}


def _opening(part: Text | Call) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": ""}
    return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}


def _deltas(part: Text | Call, size: int) -> list[dict[str, Any]]:
    if isinstance(part, Text):
        return [{"type": "text_delta", "text": piece} for piece in pieces(part.text, size)]
    written = arguments(part.raw, part.arguments)
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(written, size)]


def error(status: int, message: str) -> Mapping[str, Any]:
    return {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": message}}


def error_event(message: str) -> Event:
    return event(error(529, message), is_named=True)
