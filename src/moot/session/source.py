"""Where the tools of a session come from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from moot.core.json import Json
from moot.core.records import record
from moot.core.tool import Effect
from moot.models.model import ToolSpec
from moot.session.report import Report

Leave = Callable[[], Awaitable[str | None]]  # asks, and tells why a call may not be made; None if it may


@record
class Outcome:
    """What a call came to; with a report, it was the session's last."""

    text: str
    is_error: bool = False
    report: Report | None = None
    mail: tuple[str, ...] = ()  # the messages that were told with it


class Source(Protocol):
    """Some tools."""

    @property
    def is_recorded(self) -> bool:
        """Whether what a call came to is in the journal. What only changes the session itself is done again."""
        ...

    @property
    def is_final(self) -> bool:
        """Whether its tools are there in the last turn, in which nothing is left but to come to an end."""
        ...

    def specs(self) -> Sequence[ToolSpec]:
        """Those there are at the moment."""
        ...

    def effect(self, name: str) -> Effect: ...

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None:
        """What has to be asked before the call is made; None if nobody has to be."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        """Whoever calls has leave."""
        ...


class Unrecorded:
    """Tools that change nothing but the session they belong to: executed again, it calls them again."""

    is_recorded = False
    is_final = False
    unoffered: tuple[str, ...] = ()  # tools that say why they cannot be used, should somebody remember them

    def effect(self, name: str) -> Effect:
        return "none"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...
