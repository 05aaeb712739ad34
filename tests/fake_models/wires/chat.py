"""OpenAI's Chat Completions API, which Ollama, vLLM, OpenRouter and others speak too."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tests.fake_models.asked import AskedCall, Result, Talk, Turn
from tests.fake_models.replies import Call, Reply, Stop, Text
from tests.fake_models.wire import Event, arguments, joined, parsed, pieces

_STOPS: dict[Stop, str] = {
    "end": "stop",
    "tools": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
    "pause": "stop",
    "stop_sequence": "stop",
}
_ERRORS = {
    401: ("authentication_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def read(body: Mapping[str, Any], path: str) -> Talk:
    names: dict[str, str] = {}
    turns = tuple(_turn(message, names) for message in body.get("messages", ()))
    return Talk(
        model=str(body.get("model", "")),
        system="\n".join(turn.text for turn in turns if turn.role in ("system", "developer")),
        turns=tuple(turn for turn in turns if turn.role not in ("system", "developer")),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools") or () if "function" in tool),
        is_stream=bool(body.get("stream")),
    )


def _turn(message: Mapping[str, Any], names: dict[str, str]) -> Turn:
    text = joined(message.get("content"))
    if message["role"] == "tool":
        known = message["tool_call_id"]
        return Turn("tool", results=(Result(known, names.get(known, ""), text),))
    calls = tuple(
        AskedCall(one["id"], one["function"]["name"], parsed(one["function"]["arguments"]))
        for one in message.get("tool_calls") or ()
    )
    names.update({call.id: call.name for call in calls})
    return Turn(message["role"], text, calls)


def _call(part: Call, index: int) -> dict[str, Any]:
    function = {"name": part.name, "arguments": arguments(part.raw, part.arguments)}
    return {"index": index, "id": part.id, "type": "function", "function": function}


def _usage(reply: Reply) -> dict[str, Any]:
    used = reply.used
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cache_read},
    }


def _envelope(kind: str, talk: Talk) -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 1_790_000_000, "model": talk.model}


def whole(reply: Reply, talk: Talk) -> Mapping[str, Any]:
    text = "".join(part.text for part in reply.parts if isinstance(part, Text))
    called = [_call(part, index) for index, part in enumerate(p for p in reply.parts if isinstance(p, Call))]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": called} if called else {})}
    choice = {"index": 0, "message": message, "finish_reason": _STOPS[reply.stop], "logprobs": None}
    return {**_envelope("chat.completion", talk), "choices": [choice], "usage": _usage(reply)}


def events(reply: Reply, talk: Talk) -> list[Event]:
    chunks = [
        {**_envelope("chat.completion.chunk", talk), "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}
        for delta, stop in _deltas(reply)
    ]
    chunks.append({**_envelope("chat.completion.chunk", talk), "choices": [], "usage": _usage(reply)})
    return [*(Event(orjson.dumps(chunk)) for chunk in chunks), Event(b"[DONE]")]


def _deltas(reply: Reply) -> Iterator[tuple[dict[str, Any], str | None]]:
    yield {"role": "assistant", "content": ""}, None
    number = 0
    for part in reply.parts:
        if isinstance(part, Text):
            for piece in pieces(part.text, reply.piece):
                yield {"content": piece}, None
            continue
        opened = _call(part, number)
        written = opened["function"]["arguments"]
        yield {"tool_calls": [{**opened, "function": {"name": part.name, "arguments": ""}}]}, None
        for piece in pieces(written, reply.piece):
            yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}, None
        number += 1
    yield {}, _STOPS[reply.stop]


def error(status: int, message: str) -> Mapping[str, Any]:
    kind, code = _ERRORS.get(status, ("server_error" if status >= 500 else "invalid_request_error", None))
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_event(message: str) -> Event:
    return Event(orjson.dumps(error(500, message)))
