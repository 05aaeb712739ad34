"""OpenAI's Responses API, as the SDKs and Codex speak it."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.fake_models.asked import AskedCall, Result, Talk, Turn
from tests.fake_models.replies import Call, Reply, Text
from tests.fake_models.wire import Event, arguments, event, joined, parsed, pieces
from tests.fake_models.wires import chat

error = chat.error


def read(body: Mapping[str, Any], path: str) -> Talk:
    given = body.get("input", ())
    items: list[dict[str, Any]] = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    names: dict[str, str] = {}
    turns = tuple(turn for item in items if (turn := _turn(item, names)) is not None)
    said = [turn.text for turn in turns if turn.role in ("system", "developer")]
    return Talk(
        model=str(body.get("model", "")),
        system="\n".join(part for part in (joined(body.get("instructions")), *said) if part),
        turns=tuple(turn for turn in turns if turn.role not in ("system", "developer")),
        tools=tuple(_tools(body.get("tools") or ())),
        is_stream=bool(body.get("stream")),
        spaces=tuple(tool["name"] for tool in body.get("tools") or () if tool.get("type") == "namespace"),
    )


def _tools(tools: Any) -> Iterator[str]:
    """Codex puts the tools of a server into a namespace; its calls say both, our names join them."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}__{inner}" for inner in _tools(tool["tools"]))
        elif "name" in tool:
            yield tool["name"]


def _turn(item: Mapping[str, Any], names: dict[str, str]) -> Turn | None:
    match item.get("type", "message"):
        case "message":
            return Turn(item["role"], joined(item["content"]))
        case "function_call":
            space = item.get("namespace")
            name = f"{space}__{item['name']}" if space else item["name"]
            names[item["call_id"]] = name
            return Turn("assistant", calls=(AskedCall(item["call_id"], name, parsed(item["arguments"])),))
        case "function_call_output":
            result = Result(item["call_id"], names.get(item["call_id"], ""), joined(item["output"]))
            return Turn("tool", results=(result,))
        case _:
            return None


def _items(reply: Reply, talk: Talk) -> list[dict[str, Any]]:
    return [_item(part, index, reply, talk) for index, part in enumerate(reply.parts)]


def _item(part: Text | Call, index: int, reply: Reply, talk: Talk) -> dict[str, Any]:
    status = "incomplete" if reply.stop == "max_tokens" else "completed"
    if isinstance(part, Call):
        written = arguments(part.raw, part.arguments)
        called = {"type": "function_call", "id": f"fc_{index}", "call_id": part.id, "status": status}
        return {**called, **_named(part.name, talk), "arguments": written}
    content = _content(part, reply)
    return {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": status, "content": [content]}


def _named(name: str, talk: Talk) -> dict[str, str]:
    space = next((space for space in talk.spaces if name.startswith(f"{space}__")), None)
    if space is None:
        return {"name": name}
    return {"namespace": space, "name": name.removeprefix(f"{space}__")}


def _content(part: Text, reply: Reply) -> dict[str, Any]:
    if reply.stop == "refusal":
        return {"type": "refusal", "refusal": part.text}
    return {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}


def whole(reply: Reply, talk: Talk) -> Mapping[str, Any]:
    return _response(reply, talk, _items(reply, talk))


def _response(reply: Reply, talk: Talk, output: list[dict[str, Any]]) -> dict[str, Any]:
    is_cut = reply.stop == "max_tokens"
    used = reply.used
    return {
        **_envelope(talk),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": output,
        "usage": {
            "input_tokens": used.input,
            "input_tokens_details": {"cached_tokens": used.cache_read},
            "output_tokens": used.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used.input + used.output,
        },
    }


def _envelope(talk: Talk) -> dict[str, Any]:
    return {
        "id": "resp_fake",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": talk.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def events(reply: Reply, talk: Talk) -> list[Event]:
    numbered = ({**data, "sequence_number": number} for number, data in enumerate(_events(reply, talk)))
    return [event(data, is_named=True) for data in numbered]


def _events(reply: Reply, talk: Talk) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": _envelope(talk)}
    yield {"type": "response.in_progress", "response": _envelope(talk)}
    output = _items(reply, talk)
    for index, (part, item) in enumerate(zip(reply.parts, output, strict=True)):
        inside = _calling if isinstance(part, Call) else _writing
        yield from inside(item, index, reply.piece)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    response = _response(reply, talk, output)
    yield {"type": f"response.{response['status']}", "response": response}


def _calling(item: dict[str, Any], index: int, size: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    added = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    for piece in pieces(item["arguments"], size):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}


def _writing(item: dict[str, Any], index: int, size: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    (part,) = item["content"]
    kind, key = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
    added: dict[str, Any] = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    yield {"type": "response.content_part.added", **place, "part": {**part, key: ""}}
    for piece in pieces(part[key], size):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": f"response.{kind}.done", **place, key: part[key], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def error_event(message: str) -> Event:
    failed = {**_envelope(Talk("", "", (), ())), "status": "failed"}
    failed["error"] = {"code": "server_error", "message": message}
    return event({"type": "response.failed", "sequence_number": 99, "response": failed}, is_named=True)
