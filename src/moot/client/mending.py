"""Lists of tools as a strict client takes them: one tool that is described wrongly must not hide all others."""

from collections.abc import Mapping
from contextvars import Context
from types import TracebackType
from typing import Any, cast

from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

_OPEN = {"type": "object"}


class MendingStream:
    """Messages of a server, with its lists of tools mended."""

    def __init__(self, inner: "ReadStream[SessionMessage | Exception]") -> None:
        self._inner = inner

    @property
    def last_context(self) -> Context | None:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _mended(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> "MendingStream":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _mended(await self._inner.__anext__())

    async def __aenter__(self) -> "MendingStream":
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)


def _mended(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
        result = item.message.result
        tools: object = result.get("tools")
        if isinstance(tools, list) and "content" not in result:
            whole = [_tool(cast(Mapping[str, Any], one)) for one in cast(list[object], tools) if _is_named(one)]
            item.message.result = {**result, "tools": whole}
    return item


def _is_named(tool: object) -> bool:
    name = cast(Mapping[str, object], tool).get("name") if isinstance(tool, Mapping) else None
    return isinstance(name, str) and bool(name)


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """What is of use, where it has the right form. What comes back is not checked, so it needs no schema."""
    schema, hints = tool.get("inputSchema"), tool.get("annotations")
    found: dict[str, Any] = {"name": tool["name"], "inputSchema": _schema(schema)}
    if isinstance(tool.get("description"), str):
        found["description"] = tool["description"]
    if isinstance(hints, dict) and cast(dict[str, object], hints).get("readOnlyHint") is True:
        found["annotations"] = {"readOnlyHint": True}
    return found


def _schema(schema: object) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return _OPEN
    found = cast(dict[str, Any], schema)
    return found if found.get("type") == "object" else {**found, "type": "object"} if "type" not in found else _OPEN
