"""Google's generateContent and streamGenerateContent."""

from collections.abc import Mapping
from typing import Any

import orjson

from tests.fake_models.asked import AskedCall, Result, Talk, Turn
from tests.fake_models.replies import Call, Reply, Stop, Text
from tests.fake_models.wire import Event, joined, pieces

_STOPS: dict[Stop, str] = {
    "end": "STOP",
    "tools": "STOP",
    "max_tokens": "MAX_TOKENS",
    "refusal": "SAFETY",
    "pause": "STOP",
    "stop_sequence": "STOP",
}
_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
}


def read(body: Mapping[str, Any], path: str) -> Talk:
    system: dict[str, Any] = body.get("systemInstruction") or body.get("system_instruction") or {}
    declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
    return Talk(
        model=path.rpartition("/")[2].partition(":")[0],
        system=joined(system.get("parts")),
        turns=tuple(_turn(content) for content in body.get("contents", ())),
        tools=tuple(one["name"] for one in declared),
        is_stream=path.endswith(":streamGenerateContent"),
    )


def _turn(content: Mapping[str, Any]) -> Turn:
    parts: list[dict[str, Any]] = content.get("parts") or []
    called = [part["functionCall"] for part in parts if "functionCall" in part]
    answered = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return Turn(
        "assistant" if content.get("role") == "model" else "user",
        joined(parts),
        tuple(AskedCall(one.get("id", ""), one["name"], one.get("args", {})) for one in called),
        tuple(Result(one.get("id", ""), one["name"], orjson.dumps(one["response"]).decode()) for one in answered),
    )


def _part(part: Text | Call) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"text": part.text}
    return {"functionCall": {"id": part.id, "name": part.name, "args": dict(part.arguments)}}


def _chunk(parts: list[dict[str, Any]], talk: Talk, stop: str | None) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **({"finishReason": stop} if stop else {})}
    return {"candidates": [candidate], "modelVersion": talk.model, "responseId": "fake"}


def _usage(reply: Reply) -> dict[str, Any]:
    used = reply.used
    told = {"promptTokenCount": used.input, "candidatesTokenCount": used.output}
    return {**told, "totalTokenCount": used.input + used.output, "cachedContentTokenCount": used.cache_read}


def whole(reply: Reply, talk: Talk) -> Mapping[str, Any]:
    chunk = _chunk([_part(part) for part in reply.parts], talk, _STOPS[reply.stop])
    return {**chunk, "usageMetadata": _usage(reply)}


def events(reply: Reply, talk: Talk) -> list[Event]:
    split: list[Text | Call] = []
    for part in reply.parts:
        split += [Text(piece) for piece in pieces(part.text, reply.piece)] if isinstance(part, Text) else [part]
    chunks = [_chunk([_part(part)], talk, None) for part in split]
    chunks.append({**_chunk([], talk, _STOPS[reply.stop]), "usageMetadata": _usage(reply)})
    return [Event(orjson.dumps(chunk)) for chunk in chunks]


def error(status: int, message: str) -> Mapping[str, Any]:
    return {"error": {"code": status, "message": message, "status": _ERRORS.get(status, "UNAVAILABLE")}}


def error_event(message: str) -> Event:
    return Event(orjson.dumps(error(503, message)))
