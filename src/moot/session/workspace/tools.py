"""The tools for files and commands as a source of a session: those the agent was given and may use."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from pydantic import ValidationError

from moot.core import problems, tool_schemas, workspace_tools
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.permissions import Permissions
from moot.core.records import record
from moot.core.tool import Effect
from moot.models.model import ToolSpec
from moot.session import permitting
from moot.session.permitting import Permitting
from moot.session.source import Leave, Outcome
from moot.session.workspace import editing, reading, searching, shell
from moot.session.workspace.given import Given
from moot.session.workspace.place import Place


@record
class _Tool:
    """`check` is for what somebody would be asked for in vain."""

    words: str
    given: type[Given]
    function: Callable[[Place, Any], Awaitable[Outcome]]
    check: Callable[[Place, Any], None] = lambda place, given: None


_TOOLS: Mapping[str, _Tool] = {
    "file_read": _Tool("Read a text file, by lines.", reading.Read, reading.read),
    "file_list": _Tool("List files and folders by a pattern of their paths.", reading.List, reading.list_),
    "file_search": _Tool("Search in files, line by line.", searching.Search, searching.search),
    "file_edit": _Tool("Replace a text in a file.", editing.Edit, editing.edit, editing.check_edit),
    "file_write": _Tool("Write a file.", editing.Write, editing.write, editing.check_write),
    "shell": _Tool(
        "Run a command in the working directory. It can write there and below $TMPDIR, mostly nowhere else; nothing it "
        "has started outlives it.",
        shell.Shell,
        shell.shell,
    ),
}


class WorkspaceTools:
    is_recorded = True
    is_final = False

    def __init__(self, place: Place, tools: Sequence[str], permissions: Permissions, person: Permitting) -> None:
        """`tools` as an agent names them: tools and groups; what belongs to other sources is passed over."""
        answers = {name: workspace_tools.answer(name, permissions) for name in workspace_tools.chosen(tools)}
        self._answers = {name: answer for name, answer in answers.items() if answer != "deny"}
        self._place = place
        self._permitting = person

    def specs(self) -> Sequence[ToolSpec]:
        return tuple(_spec(name) for name in self._answers)

    def effect(self, name: str) -> Effect:
        return "none" if name in workspace_tools.GROUPS["files"] else "outside"

    def leave(self, name: str, arguments: Mapping[str, Json]) -> Leave | None:
        """Nobody is asked for what cannot be done."""
        is_asked = self._answers[name] == "ask" and not isinstance(self._given(name, arguments), Outcome)
        return partial(permitting.refusal, self._permitting, name, arguments) if is_asked else None

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> Outcome:
        given = self._given(name, arguments)
        if isinstance(given, Outcome):
            return given
        try:
            if name == "shell" and self._answers[name] == "allow":
                await shell.check_unseen()
            return await _TOOLS[name].function(self._place, given)
        except MootError as error:
            return Outcome(f"{error.code}: {error}", is_error=True)

    def _given(self, name: str, arguments: Mapping[str, Json]) -> Given | Outcome:
        """The arguments, or what is wrong with them."""
        tool = _TOOLS[name]
        try:
            given = tool.given.model_validate(arguments)
            tool.check(self._place, given)
        except ValidationError as error:
            wrong = problems.in_call(name, error, tool.given, arguments)
            return Outcome(f"{wrong.code}: Nothing was done: {wrong}", is_error=True)
        except MootError as error:
            return Outcome(f"{error.code}: {error}", is_error=True)
        return given


@cache
def _spec(name: str) -> ToolSpec:
    tool = _TOOLS[name]
    return ToolSpec(name, tool.words, tool_schemas.plain(tool.given.model_json_schema()))
