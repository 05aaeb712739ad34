"""The tools of other MCP servers, as a session calls them: `mcp_<server>_<tool>`."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Protocol

from moot.client.errors import CallFailed
from moot.client.offer import Answer, Offer
from moot.core.json import Json
from moot.core.tool import Effect
from moot.models.model import ToolSpec
from moot.session import permitting
from moot.session.permitting import Nobody, Permitting
from moot.session.source import Leave, Outcome

LONGEST = 64  # characters that every provider takes
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


class Connection(Protocol):
    """One server, shared by all sessions of a tree."""

    @property
    def name(self) -> str: ...

    def offers(self) -> Sequence[Offer]: ...

    def asks(self, tool: str) -> bool:
        """Whether a person has to be asked before it is called."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Answer: ...


class ExternalTools:
    is_recorded = True
    is_final = False

    def __init__(
        self, server: Connection, only: Collection[str] | None = None, person: Permitting | None = None
    ) -> None:
        """`only`: patterns of its tools; None for all that the server's own lists allow."""
        self._server = server
        self._person = person or Nobody()
        self._only = only

    def specs(self) -> Sequence[ToolSpec]:
        named = self._named()
        return tuple(ToolSpec(name, one.words or one.name, one.schema) for name, one in named.items())

    def effect(self, name: str) -> Effect:
        offer = self._named().get(name)
        return "none" if offer is not None and offer.is_read_only else "outside"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None:
        offer = self._named().get(name)
        is_asked = offer is not None and self._server.asks(offer.name)
        return partial(permitting.refusal, self._person, name, arguments) if is_asked else None

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        offer = self._named().get(name)
        if offer is None:
            return Outcome(f"NOT_CALLED: {self._server.name} has no such tool any more. (executed: false)", True)
        try:
            answer = await self._server.call(offer.name, arguments)
        except CallFailed as error:
            return Outcome(f"{error.code}: {error} (executed: {error.executed})", is_error=True)
        if answer.is_error:
            return Outcome(f"TOOL_FAILED: {answer.text} (executed: true)", is_error=True)
        return Outcome(answer.text)

    def _named(self) -> dict[str, Offer]:
        only = self._only
        offers = [
            one for one in self._server.offers() if only is None or any(fnmatchcase(one.name, each) for each in only)
        ]
        return dict(zip(names(self._server.name, [one.name for one in offers]), offers, strict=True))


def names(server: str, tools: Sequence[str]) -> list[str]:
    """What models call them. Those that would be too long or alike end in a mark of their own, whatever else is there.

    A server's name has no underscore here, so that no two servers can come to the same.
    """
    plain = [f"mcp_{server.replace('_', '-')}_{_STRANGE.sub('_', tool)}" for tool in tools]
    count = Counter(plain)
    return [
        name if count[name] == 1 and len(name) <= LONGEST else f"{name[: LONGEST - 9]}_{_mark(tool)}"
        for name, tool in zip(plain, tools, strict=True)
    ]


def _mark(tool: str) -> str:
    return hashlib.sha256(tool.encode(errors="surrogatepass")).hexdigest()[:8]
