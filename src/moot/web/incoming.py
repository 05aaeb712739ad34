"""A request to the page as it comes in, and the way back."""

from collections.abc import Mapping
from typing import cast
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.edge import bodies, gate
from moot.edge.bodies import Twice
from moot.edge.gate import Headers

_MOST_ARGUMENTS = 50


@record
class Incoming:
    scope: Scope
    receive: Receive
    send: Send
    headers: Headers

    @property
    def method(self) -> str:
        """HEAD asks for the same as GET; the server leaves the body out."""
        method: str = self.scope["method"]
        return "GET" if method == "HEAD" else method

    @property
    def path(self) -> str:
        path: str = self.scope["path"]
        return path

    def query(self) -> dict[str, str]:
        """Each argument once, and nothing that a database cannot keep."""
        try:
            pairs = parse_qsl(
                self.scope["query_string"].decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=_MOST_ARGUMENTS,
            )
        except ValueError:
            raise InvalidInput("The address cannot be read.", "Send UTF-8, percent-encoded.") from None
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InvalidInput("An argument appears twice in the address.", "Send it once.")
        if any("\0" in one for pair in pairs for one in pair):
            raise InvalidInput("There is a NUL character in the address.", "Remove it and send again.")
        return found

    async def body(self) -> Mapping[str, Json]:
        """A JSON object, and nothing else."""
        gate.check_form(self.method, self.headers)
        content = await bodies.read(self.receive, self.headers.get(b"content-length"))
        try:
            found = bodies.load(content)
        except Twice as twice:
            raise InvalidInput(f"The key {str(twice)[:80]!r} appears twice in one object.", "Send it once.") from None
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidInput(f"This is not JSON that can be taken: {error}.", "Send one JSON object.") from None
        if not isinstance(found, dict):
            raise InvalidInput("This is not a JSON object.", "Send one JSON object.")
        given = cast(dict[str, Json], found)
        fault = bodies.fault(given, content)
        if fault is not None:
            raise InvalidInput(fault.fact, fault.remedy)
        return given

    async def send_content(self, content: bytes, type: str, *more: tuple[bytes, bytes]) -> None:
        own = ((b"content-type", type.encode()), (b"content-length", str(len(content)).encode()))
        await self.send({"type": "http.response.start", "status": 200, "headers": [*own, *more]})
        await self.send({"type": "http.response.body", "body": content})
