"""A bare client of MCP's stateless revision: one kept connection, one request after the other at a steady pace."""

import json
import socket
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any

from bench.sending import BODY

REVISION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class _UnixConnection(HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self._path)


class Client:
    """Calls tools, and looks whether they answered."""

    def __init__(self, connection: HTTPConnection, token: str) -> None:
        self._connection = connection
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": REVISION,
            "MCP-Method": "tools/call",
            "Authorization": f"Bearer {token}",
        }

    def call_every(self, seconds: float, times: int) -> None:
        """`channel_send`, as often."""
        content = _request("channel_send", {"message": BODY})
        self._at_pace(seconds, (("channel_send", content) for _ in range(times)))

    def ask_every(self, seconds: float, tool: str, asked: Iterable[Mapping[str, Any]]) -> list[Any]:
        """One tool with these arguments, one after the other."""
        return self._at_pace(seconds, ((tool, _request(tool, arguments)) for arguments in asked))

    def _at_pace(self, seconds: float, requests: Iterable[tuple[str, bytes]]) -> list[Any]:
        answers: list[Any] = []
        due = time.monotonic()
        for tool, content in requests:
            answers.append(self._called(tool, content))
            due += seconds
            time.sleep(max(0.0, due - time.monotonic()))
        return answers

    def _called(self, tool: str, content: bytes) -> Any:
        self._connection.request("POST", "/mcp", content, self._headers | {"MCP-Name": tool})
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != 200 or b'"isError":false' not in said:
            raise RuntimeError(f"{tool} answered {answer.status}: {said[:500]!r}")
        return _result(said)


def _request(tool: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": _META}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def _result(said: bytes) -> Any:
    """What a tool answered, whether it came plain or as the event of a stream."""
    text = said if said.startswith(b"{") else said.split(b"data: ", 1)[1].split(b"\n", 1)[0]
    return json.loads(text)["result"]["structuredContent"]


@contextmanager
def connected(path: str, token: str) -> Generator[Client]:
    with closing(_UnixConnection(path)) as connection:
        yield Client(connection, token)
