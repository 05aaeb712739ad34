"""The tools of moot itself, as a session calls them: in this process, as the attempt."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from moot.core import tool_schemas
from moot.core.json import Json
from moot.core.tool import Effect, Tool, ToolAnswer
from moot.models.model import ToolSpec
from moot.session.source import Leave, Outcome


class Toolbox(Protocol):
    """The tools of one attempt. It knows calls by what they are, and how many alike came before."""

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer: ...

    def recall(self, name: str, arguments: Mapping[str, Json]) -> None: ...


class MootTools:
    is_recorded = True
    is_final = False

    def __init__(self, tools: Sequence[Tool], toolbox: Toolbox) -> None:
        self._effects: dict[str, Effect] = {one.name: one.effect for one in tools}
        self._specs = tuple(ToolSpec(one.name, one.words, tool_schemas.arguments(one)) for one in tools)
        self._toolbox = toolbox

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def effect(self, name: str) -> Effect:
        return self._effects[name]

    def recall(self, name: str, arguments: Mapping[str, Json]) -> None:
        self._toolbox.recall(name, arguments)

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        answer = await self._toolbox.call(name, arguments)
        return Outcome(answer.text, answer.is_error, mail=answer.mail)
