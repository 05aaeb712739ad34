"""Cursor's agent, without a terminal: `cursor-agent -p`, the prompt by standard input. Made after its documentation.

It reads our server from files of the project only, which are changed while it runs and put back. What it may do is all
or nothing: without `--force` it changes no file and runs no command that would need a question.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from moot.backends.backend import Assignment, Briefing, Called, Conversation, Usage, Wrote
from moot.backends.programs import conversations, faults, fields, known, project_file, surroundings
from moot.backends.programs.launch import CannotLaunch, Event, Launch, Outcome, Reader, Spoken, headed
from moot.backends.programs.surroundings import Needs
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.permissions import PRESETS

SERVER = "moot"
FOLDER = ".cursor"
_NEEDS = Needs(known.CURSOR, homes={"CURSOR_CONFIG_DIR": ".cursor"})


class Cursor:
    """`cursor-agent`, from its own installer."""

    name: ClassVar[str] = "cursor"
    forgotten: ClassVar[str] = "not find chat"

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        manner = assignment.manner
        env = surroundings.surround(assignment, _NEEDS, parent)
        found = surroundings.find(known.CURSOR, assignment, env)
        before = conversations.before(assignment)
        may_all = manner.permissions == PRESETS["full"]
        name = manner.model.partition("/")[2] or manner.model if manner.model else None
        argv = (
            *found,
            *("--print", "--output-format", "stream-json", "--approve-mcps", "--trust"),
            *(("--force",) if may_all else ()),
            *(("--model", name) if name else ()),
            *(("--resume", before.handle) if before else ()),
        )
        return Launch(
            argv,
            env,
            headed(briefing).encode(),  # it takes no system prompt, neither beside its own nor instead of it
            CursorReader(before),
            secrets=surroundings.secrets(env, assignment, _NEEDS),
            warnings=(
                *known.CURSOR.denied(manner.permissions),
                *surroundings.unlimited(assignment, _NEEDS),
                *conversations.warning(manner),
            ),
            around=lambda: _with_tools(assignment.workspace / FOLDER, assignment.access.url),
        )


def _with_tools(folder: Path, url: str) -> AbstractContextManager[None]:
    """Our server, and leave to use it; the token comes by environment, so that all agents share one file."""
    header = f"Bearer ${{env:{surroundings.TOKEN}}}"
    server: Json = {"url": url, "headers": {"Authorization": header}}

    def servers(before: bytes | None) -> bytes:
        found = _object(before, folder / "mcp.json")
        return json.pretty({**found, "mcpServers": {**fields.part(found, "mcpServers"), SERVER: server}}).encode()

    def rules(before: bytes | None) -> bytes:
        found = _object(before, folder / "cli.json")
        permissions = fields.part(found, "permissions")
        allowed = permissions.get("allow")
        kept = [one for one in allowed if isinstance(one, str)] if isinstance(allowed, list | tuple) else []
        leave: Json = {"deny": [], **permissions, "allow": [*kept, f"Mcp({SERVER}:*)"]}
        return json.pretty({**found, "permissions": leave}).encode()

    @contextmanager
    def both() -> Generator[None]:
        with ExitStack() as stack:
            stack.enter_context(project_file.lent(folder / "mcp.json", servers))
            stack.enter_context(project_file.lent(folder / "cli.json", rules))
            yield

    return both()


def _object(content: bytes | None, place: Path) -> dict[str, Json]:
    try:
        return json.load_object(content) if content and content.strip() else {}
    except InvalidInput as error:
        raise CannotLaunch("cannot_start", f"{place} cannot be read: {error.fact}", "Mend it.") from error


class CursorReader(Reader):
    """Reads the events of one run. It tells nothing of tokens or money."""

    def __init__(self, before: Conversation | None) -> None:
        self._turns = before.used.turns if before else 0
        self._session = before.handle if before else ""

    def read(self, event: Event) -> Iterator[Spoken]:
        self._session = fields.text(event, "session_id") or self._session
        match event.get("type"):
            case "assistant":
                for block in fields.parts(fields.part(event, "message"), "content"):
                    if fields.text(block, "text"):
                        yield Wrote(fields.text(block, "text"))
            case "tool_call" if event.get("subtype") == "completed":
                yield from _called(fields.part(event, "tool_call"))
            case "result":
                self.end = event
            case _:
                pass

    def used(self) -> Usage:
        return Usage(turns=1, is_estimated=True)

    def outcome(self) -> Outcome | None:
        if self.end is None:
            return None
        text, used = fields.text(self.end, "result"), self.used()
        if self.end.get("subtype") != "success" or self.end.get("is_error") is not False:
            return Outcome(faults.by_words(text) or "error", text or "it failed and did not say why", usage=used)
        total = Usage(turns=self._turns + 1, is_estimated=True)
        return Outcome(text=text, usage=used, conversation=Conversation(self._session, total))


def _called(call: Mapping[str, Json]) -> Iterator[Called]:
    """`{"readToolCall": {"args": …, "result": {"success": …}}}`; one of an MCP server names its tool inside."""
    for key, value in call.items():
        if isinstance(value, Mapping):
            name = fields.text(fields.part(value, "args"), "toolName") or key.removesuffix("ToolCall")
            yield Called(name.removeprefix(f"{SERVER}-"), "success" not in fields.part(value, "result"))
