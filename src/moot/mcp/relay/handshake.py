"""What a relay remembers of a session of the handshake revisions, so that it can open the same one elsewhere."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from moot.mcp.relay import letters
from moot.mcp.relay.letters import Letter

INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"


@dataclass(slots=True)
class Handshake:
    opening: Letter | None = None
    session: str | None = None
    version: str | None = None
    subscriptions: dict[str, Letter] = field(default_factory=dict[str, Letter])
    is_settled: asyncio.Event = field(default_factory=asyncio.Event)  # no opening is under way
    is_open: asyncio.Event = field(default_factory=asyncio.Event)  # the client has said that it is initialized

    def __post_init__(self) -> None:
        self.is_settled.set()

    def headers(self) -> dict[str, str]:
        session = {} if self.session is None else {"Mcp-Session-Id": self.session}
        version = {} if self.version is None else {"MCP-Protocol-Version": self.version}
        return session | version

    def note(self, letter: Letter) -> None:
        """Remember what a new session would have to be told."""
        uri: object = letter.params.get("uri")
        if letter.method == INITIALIZE:
            self.opening, self.session, self.version = letter, None, None
            self.is_open.clear()
            self.subscriptions.clear()
        elif letter.method == INITIALIZED:
            self.is_open.set()
        elif letter.method == "resources/subscribe" and isinstance(uri, str):
            self.subscriptions[uri] = letter
        elif letter.method == "resources/unsubscribe" and isinstance(uri, str):
            self.subscriptions.pop(uri, None)

    def opened(self, letter: Letter, headers: Mapping[str, str], answer: bytes) -> None:
        """Note the session that an opening was answered with."""
        if letter.method == INITIALIZE:
            self.session = headers.get("mcp-session-id")
            self.version = letters.version_in(answer)

    def again(self) -> list[Letter]:
        """What to send to a server that does not know the session, after the opening."""
        initialized = [letters.write(None, INITIALIZED, {})] if self.is_open.is_set() else []
        return initialized + [_own(letter) for letter in self.subscriptions.values()]

    def opening_again(self) -> Letter | None:
        return None if self.opening is None else _own(self.opening)


def _own(letter: Letter) -> Letter:
    """The same under an id of the relay, for an answer that the client does not wait for."""
    return replace(letters.write("moot-relay", letter.method or "", letter.params), params=letter.params)
