"""What every wire protocol of a provider can do, for the server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import orjson

from tests.fake_models.asked import Talk
from tests.fake_models.replies import Reply


@dataclass(frozen=True)
class Event:
    data: bytes
    name: str | None = None


def event(data: Mapping[str, Any], *, is_named: bool = False) -> Event:
    """Providers that name their events call them as the data's `type` does."""
    return Event(orjson.dumps(data), data["type"] if is_named else None)


class WireProtocol(Protocol):
    def read(self, body: Mapping[str, Any], path: str) -> Talk: ...

    def whole(self, reply: Reply, talk: Talk) -> Mapping[str, Any]:
        """The answer to a request without a stream."""
        ...

    def events(self, reply: Reply, talk: Talk) -> list[Event]: ...

    def error(self, status: int, message: str) -> Mapping[str, Any]: ...

    def error_event(self, message: str) -> Event: ...


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def arguments(raw: str | None, given: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(given)).decode() if raw is None else raw


def parsed(text: str | None) -> dict[str, Any]:
    """Arguments of a call as they came back; what is not an object is kept under one name."""
    try:
        value: Any = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {"not json": text}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {"not an object": value}


def joined(content: Any) -> str:
    """The words in a content that is a text, a list of parts, or nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = cast(list[dict[str, Any]], list(content))
    return "\n".join(str(part["text"]) for part in parts if "text" in part)
