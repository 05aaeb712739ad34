"""Messages as a relay sees them: what they are, which headers they need, and the errors it answers itself."""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from moot.core.records import record

PARSE_ERROR, INVALID_REQUEST, REFUSED = -32700, -32600, -32001
CONNECTION_CLOSED = -32000
_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
# A request begins with its method, its id and whatever else is short, in some order; or its id comes last of all. An
# answer, which has no method, may have the same id as a request.
_SHORT = rb'"(?:jsonrpc|method|id)"\s*:\s*(?:"(?:[^"\\]|\\.)*+"|-?\d+)\s*'
_BEGINNING = re.compile(rb"\s*\{\s*((?:" + _SHORT + rb",\s*)+)")
_LAST = re.compile(rb",\s*((?:" + _SHORT + rb",\s*)*" + _SHORT + rb")\}\s*$")
_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")

Id = str | int


@record
class Parcel:
    """One line from the client. The line itself travels on as it came."""

    line: bytes
    method: str | None
    id: Id | None
    params: Mapping[str, Any]
    is_misnumbered: bool = False  # its id is none that an answer could carry

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None

    @property
    def version(self) -> str | None:
        """The revision it names itself, which only the stateless ones do."""
        meta: object = self.params.get("_meta")
        version: object = cast(dict[str, object], meta).get(_VERSION) if isinstance(meta, dict) else None
        return version if isinstance(version, str) and _PLAIN.fullmatch(version) else None

    def headers(self) -> dict[str, str]:
        """What the stateless revision repeats of the message in its headers."""
        if self.version is None or self.method is None:
            return {}
        found = {"MCP-Protocol-Version": self.version, "Mcp-Method": header_value(self.method)}
        name: object = self.params.get(_NAMED.get(self.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = header_value(name)
        return found


def read(line: bytes) -> Parcel | None:
    """None if it is not JSON. Everything else is the server's to judge."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    fields = cast(dict[str, Any], message) if isinstance(message, dict) else {}
    method, id, params = fields.get("method"), fields.get("id"), fields.get("params")
    return Parcel(
        line.strip(),
        method if isinstance(method, str) else None,
        id if isinstance(id, str | int) and not isinstance(id, bool) else None,
        cast(dict[str, Any], params) if isinstance(params, dict) else {},
        is_misnumbered=isinstance(id, bool | float | list | dict),
    )


def id_at(head: bytes, tail: bytes) -> Id | None:
    """Whose request it was of which only both ends are known; None if that cannot be told, or it was none."""
    beginning, last = _BEGINNING.match(head), _LAST.search(tail)
    first = _members(beginning[1].rstrip().removesuffix(b",")) if beginning else {}
    id = {**(_members(last[1]) if last else {}), **first}.get("id")
    return id if "method" in first and isinstance(id, str | int) else None


def _members(text: bytes) -> dict[str, Any]:
    return _object(b"{" + text + b"}")


def write(id: Id | None, method: str, params: Mapping[str, Any]) -> Parcel:
    """A message of the relay's own."""
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if id is None else {"id": id})}
    return Parcel(json.dumps(message).encode(), method, id, params)


def error(id: Id | None, code: int, message: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).encode()


def refusal(id: Id | None, status: int, body: bytes) -> bytes:
    """What a server said with an HTTP error, as an answer to this request."""
    found: object = _object(body).get("error")
    if not isinstance(found, dict):
        return error(id, REFUSED, f"The server answered with HTTP status {status}.")
    facts = cast(dict[str, Any], found)
    if isinstance(facts.get("code"), int):
        return json.dumps({"jsonrpc": "2.0", "id": id, "error": facts}).encode()
    return error(id, REFUSED, f"{facts.get('code')}: {facts.get('message')} {facts.get('remedy', '')}".strip())


def is_answer(data: bytes, id: Id | None) -> bool:
    """Whether this ends the request."""
    message = _object(data)
    return "method" not in message and "id" in message and message["id"] == id


def is_farewell(data: bytes) -> bool:
    """Whether an answer says only that the server is going."""
    if str(CONNECTION_CLOSED).encode() not in data:
        return False
    found: object = _object(data).get("error")
    return isinstance(found, dict) and cast(dict[str, Any], found).get("code") == CONNECTION_CLOSED


def version_in(answer: bytes) -> str | None:
    """The revision that an opening was answered with."""
    result: object = _object(answer).get("result")
    version: object = cast(dict[str, Any], result).get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) and _PLAIN.fullmatch(version) else None


def _object(data: bytes) -> dict[str, Any]:
    try:
        message: object = json.loads(data)
    except ValueError:
        return {}
    return cast(dict[str, Any], message) if isinstance(message, dict) else {}


def header_value(text: str) -> str:
    """As the stateless revision writes what is not plain ASCII."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode(errors='replace')).decode()}?="
