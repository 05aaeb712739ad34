"""The tools of moot itself, as a session calls them: in this process, as the attempt."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from moot.core import tool_schemas
from moot.core.json import Json
from moot.core.tool import Effect, Tool, ToolAnswer
from moot.models.model import ToolSpec
from moot.session.source import Leave, Outcome


class Toolbox(Protocol):
    """The tools of one attempt. It knows a call that is repeated by what it is and by its path."""

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> ToolAnswer: ...


class MootTools:
    is_recorded = True
    is_final = False

    def __init__(self, tools: Sequence[Tool], toolbox: Toolbox) -> None:
        self._effects: dict[str, Effect] = {one.name: one.effect for one in tools}
        self._specs = tuple(map(_spec, tools))
        self._toolbox = toolbox

    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    def effect(self, name: str) -> Effect:
        return self._effects[name]

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None: ...

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        answer = await self._toolbox.call(name, arguments, path)
        return Outcome(answer.text, answer.is_error, mail=answer.mail)


@cache
def _spec(tool: Tool) -> ToolSpec:
    """The same for all sessions, so that what it costs to tell it is counted once."""
    return ToolSpec(tool.name, tool.words, tool_schemas.arguments(tool))
