"""What `moot init` writes into a project: how agents reach moot, what they should know of it, a first workflow.

Each piece can be taken out again, and leaves alone what is not its own. Nothing is ever written over.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

from moot.core import json
from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json
from moot.core.records import record
from moot.tools import flow_prompts

Client = Literal["claude", "codex", "cursor"]
CLIENTS: tuple[Client, ...] = ("claude", "codex", "cursor")
SERVER: Mapping[str, Json] = {"command": "moot", "args": ["mcp"]}

_INSTRUCTIONS = """\
## Plans and other agents: moot

Work of several steps is kept in moot (the MCP server `moot`), so that nothing is lost when a conversation ends and
several agents can share it.

1. Begin: `agent_register` with your name and runtime, then `workflow_list` with status `in_progress`.
2. If something is there, take it up: `workflow_progress` names the tasks, `task_claim` one, and `task_load_context`
   with `include: {all_checkpoints: true}` tells how far it has come. Else plan: `workflow_create`, `workflow_set_plan`.
3. For each task of `workflow_next_tasks`: `task_claim`, `task_load_context`, `task_set_plan`, then
   `task_update_status` to `in_progress`. If somebody else has claimed it, take the next one.
4. Note what you do and decide with `checkpoint_add`; in long work, call `agent_heartbeat` every 30 seconds or so.
5. End it with `task_update_status`: `completed` with an `outcome`, or `failed` with an `error`. `CLAIM_LOST` means that
   somebody else may have it by now: look before you go on.
6. When you stop: `agent_unregister`.
"""
_REVIEW = """\
# Try it: moot run review
name: review
defaults: {model: sonnet, permissions: read-only}
agents:
  reviewer: {system_prompt: You review changes. Name what is wrong and where; be brief.}
  author: {system_prompt: You answer reviews of your change. Say what you would mend and what not.}
setup:
  - {shell: "git diff HEAD | head -c 100000", as: change}
kickoff: |
  @reviewer review this change, then settle with `@author` what is to be mended:

  ${{ change }}
"""
_COMMAND = f"""\
---
description: Carry out a workflow with moot, one step at a time
argument-hint: list | NAME info | NAME start [--input key=value ...] | resume ID | status ID
---
The tools are those of the MCP server `moot`. The user asks for: $ARGUMENTS

{flow_prompts.COMMAND}
{flow_prompts.ORCHESTRATOR}"""


class FileRefused(MootError):
    """A file of the project that cannot be changed without harm."""

    code = "FILE_REFUSED"
    exit_code = 2


class Piece(Protocol):
    """Something of ours in a file of the project."""

    @property
    def path(self) -> str: ...

    @property
    def words(self) -> str:
        """What it is, for the person who is asked."""
        ...

    def put(self, text: str | None) -> str | None:
        """The file with it; None if it is there. FileRefused if something else stands in its place."""
        ...

    def take(self, text: str) -> str | None:
        """The file without it; the same if it is not there, None if nothing else is left."""
        ...


@record
class Section:
    """A part of a text between two marks."""

    path: str
    words: str
    content: str
    comment: tuple[str, str]

    @property
    def _marks(self) -> tuple[str, str]:
        before, after = self.comment
        return f"{before}moot: begin{after}", f"{before}moot: end{after}"

    def put(self, text: str | None) -> str | None:
        begin, end = self._marks
        if text is not None and begin in text:
            return None
        own = f"{begin}\n{self.content.rstrip()}\n{end}\n"
        return own if not text else f"{text.rstrip()}\n\n{own}"

    def take(self, text: str) -> str | None:
        begin, end = self._marks
        before, found, rest = text.partition(f"{begin}\n")
        _, closed, after = rest.partition(f"{end}\n")
        if not found or not closed:
            return text
        left = f"{before.rstrip()}\n\n{after.lstrip()}" if before.strip() and after.strip() else before.rstrip() + after
        return f"{left.strip()}\n" if left.strip() else None


@record
class Entry:
    """The server `moot` among the MCP servers of a JSON file."""

    path: str
    words: str

    def put(self, text: str | None) -> str | None:
        found = self._read(text or "{}")
        servers = self._servers(found)
        if servers.get("moot") == SERVER:
            return None
        if "moot" in servers:
            raise FileRefused(f"{self.path} has another server named moot.", "Rename or remove it, then try again.")
        return self._written({**found, "mcpServers": {**servers, "moot": dict(SERVER)}})

    def take(self, text: str) -> str | None:
        found = self._read(text)
        servers = self._servers(found)
        if servers.get("moot") != SERVER:
            return text
        others = {name: one for name, one in servers.items() if name != "moot"}
        kept: dict[str, Json] = {**found, "mcpServers": others}
        left = {name: one for name, one in kept.items() if name != "mcpServers" or others}
        return self._written(left) if left else None

    def _read(self, text: str) -> dict[str, Json]:
        try:
            return json.load_object(text)
        except InvalidInput as error:
            entry = json.dumps({"moot": SERVER})
            raise FileRefused(
                f"{self.path} is no plain JSON.", f"Add this to its mcpServers yourself: {entry}"
            ) from error

    def _servers(self, found: Mapping[str, Json]) -> Mapping[str, Json]:
        servers = found.get("mcpServers", {})
        if not isinstance(servers, Mapping):
            raise FileRefused(f"The mcpServers of {self.path} is no object.", "Mend it, then try again.")
        return cast(Mapping[str, Json], servers)

    def _written(self, found: Mapping[str, Json]) -> str:
        return f"{json.pretty(found)}\n"


@record
class Whole:
    """A file of our own, as long as nobody has changed it."""

    path: str
    words: str
    content: str

    def put(self, text: str | None) -> str | None:
        return self.content if text is None else None

    def take(self, text: str) -> str | None:
        return None if text == self.content else text


@record
class Change:
    """What becomes of a file: None removes it."""

    piece: Piece
    file: Path
    text: str | None


_MARKDOWN, _HASH = ("<!-- ", " -->"), ("# ", "")
_TOML = '[mcp_servers.moot]\ncommand = "moot"\nargs = ["mcp"]'
_WORKFLOW = Whole(".moot/workflows/review.yaml", "a first workflow, for: moot run review", _REVIEW)
_AGENTS = Section("AGENTS.md", "how to work with moot", _INSTRUCTIONS, _MARKDOWN)
_PIECES: Mapping[Client, tuple[Piece, ...]] = {
    "claude": (
        Entry(".mcp.json", "the MCP server moot"),
        Section("CLAUDE.md", "how to work with moot", _INSTRUCTIONS, _MARKDOWN),
        Whole(".claude/commands/workflow.md", "the command /workflow", _COMMAND),
    ),
    "codex": (Section(".codex/config.toml", "the MCP server moot, once you trust the project", _TOML, _HASH), _AGENTS),
    "cursor": (Entry(".cursor/mcp.json", "the MCP server moot"), _AGENTS),
}


def wanted(root: Path, clients: Sequence[Client]) -> list[Change]:
    """What is to be written; nothing that is there already."""
    pieces = dict.fromkeys((_WORKFLOW, *(piece for client in clients for piece in _PIECES[client])))
    found: list[Change] = []
    for piece in pieces:
        file = _file(root, piece)
        text = piece.put(_text(file))
        if text is not None:
            found.append(Change(piece, file, text))
    return found


def undone(root: Path) -> list[Change]:
    """What is to be taken out again."""
    pieces = dict.fromkeys((_WORKFLOW, *(piece for client in CLIENTS for piece in _PIECES[client])))
    found: list[Change] = []
    for piece in pieces:
        file = _file(root, piece)
        before = _text(file)
        if before is not None and (after := piece.take(before)) != before:
            found.append(Change(piece, file, after))
    return found


def carry_out(root: Path, changes: Sequence[Change]) -> None:
    for one in changes:
        if one.text is None:
            one.file.unlink()
            _leave(root, one.file.parent)
        else:
            _write(one.file, one.text)


def _leave(root: Path, folder: Path) -> None:
    """Folders in which nothing is left."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _file(root: Path, piece: Piece) -> Path:
    """No link is followed: it could lead out of the project."""
    file = root / piece.path
    for part in (file, *file.parents):
        if part == root:
            break
        if part.is_symlink():
            raise FileRefused(f"{part} is a link.", "Put a file of its own there, or leave this client out.")
    return file


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise FileRefused(f"{file} cannot be read as text.", "Mend it, or leave this client out.") from error


def _write(file: Path, text: str) -> None:
    """As a whole or not at all; a file that is there keeps its rights."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
    handle, fresh = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        os.chmod(fresh, mode)
        os.replace(fresh, file)
    except BaseException:
        os.unlink(fresh)
        raise
