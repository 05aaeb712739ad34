"""What a relay remembers of a session of the handshake revisions, so that it can open the same one elsewhere."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from moot.mcp.relay import parcels
from moot.mcp.relay.parcels import Parcel

INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"


@dataclass(slots=True)
class Handshake:
    opening: Parcel | None = None
    session: str | None = None
    version: str | None = None
    subscriptions: dict[str, Parcel] = field(default_factory=dict[str, Parcel])
    is_settled: asyncio.Event = field(default_factory=asyncio.Event)  # no opening is under way
    is_open: asyncio.Event = field(default_factory=asyncio.Event)  # the client has said that it is initialized

    def __post_init__(self) -> None:
        self.is_settled.set()

    def headers(self) -> dict[str, str]:
        session = {} if self.session is None else {"Mcp-Session-Id": self.session}
        version = {} if self.version is None else {"MCP-Protocol-Version": self.version}
        return session | version

    def note(self, parcel: Parcel) -> None:
        """Remember what a new session would have to be told."""
        uri: object = parcel.params.get("uri")
        if parcel.method == INITIALIZE:
            self.opening, self.session, self.version = parcel, None, None
            self.is_open.clear()
            self.subscriptions.clear()
        elif parcel.method == INITIALIZED:
            self.is_open.set()
        elif parcel.method == "resources/subscribe" and isinstance(uri, str):
            self.subscriptions[uri] = parcel
        elif parcel.method == "resources/unsubscribe" and isinstance(uri, str):
            self.subscriptions.pop(uri, None)

    def opened(self, parcel: Parcel, headers: Mapping[str, str], answer: bytes) -> None:
        """Note the session that an opening was answered with."""
        if parcel.method == INITIALIZE:
            self.session = headers.get("mcp-session-id")
            self.version = parcels.version_in(answer)

    def again(self) -> list[Parcel]:
        """What to send to a server that does not know the session, after the opening."""
        initialized = [parcels.write(None, INITIALIZED, {})] if self.is_open.is_set() else []
        return initialized + [_own(parcel) for parcel in self.subscriptions.values()]

    def opening_again(self) -> Parcel | None:
        return None if self.opening is None else _own(self.opening)


def _own(parcel: Parcel) -> Parcel:
    """The same under an id of the relay, for an answer that the client does not wait for."""
    return replace(parcels.write("moot-relay", parcel.method or "", parcel.params), params=parcel.params)
