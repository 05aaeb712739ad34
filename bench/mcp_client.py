"""A bare client of MCP's stateless revision: one kept connection, the same request at a steady pace."""

import json
import socket
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from http.client import HTTPConnection

from bench.sending import BODY

REVISION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "channel_send", "arguments": {"message": BODY}, "_meta": _META},
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
    """Calls `channel_send` and looks whether it was sent."""

    def __init__(self, connection: HTTPConnection, token: str) -> None:
        self._connection = connection
        self._content = json.dumps(_REQUEST).encode()
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": REVISION,
            "MCP-Method": "tools/call",
            "MCP-Name": "channel_send",
            "Authorization": f"Bearer {token}",
        }

    def call_every(self, seconds: float, times: int) -> None:
        due = time.monotonic()
        for _ in range(times):
            self.call()
            due += seconds
            time.sleep(max(0.0, due - time.monotonic()))

    def call(self) -> None:
        self._connection.request("POST", "/mcp", self._content, self._headers)
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != 200 or b'"isError":false' not in said or b"sent" not in said:
            raise RuntimeError(f"channel_send answered {answer.status}: {said[:500]!r}")


@contextmanager
def connected(path: str, token: str) -> Generator[Client]:
    with closing(_UnixConnection(path)) as connection:
        yield Client(connection, token)
