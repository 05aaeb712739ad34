"""What `moot init` writes into a project: how agents reach moot, what they should know of it, a first workflow."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from moot.app import first_workflow
from moot.app.first_workflow import Chosen
from moot.app.pieces import Entry, FileRefused, Hooks, Piece, Section, Whole
from moot.core.records import record
from moot.tools import flow_prompts

Client = Literal["claude", "codex", "cursor"]
CLIENTS: tuple[Client, ...] = ("claude", "codex", "cursor")

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
_COMMAND = f"""\
---
description: Carry out a workflow with moot, one step at a time
argument-hint: list | NAME info | NAME start [--input key=value ...] | resume ID | status ID
---
The tools are those of the MCP server `moot`. The user asks for: $ARGUMENTS

{flow_prompts.COMMAND}
{flow_prompts.ORCHESTRATOR}"""


@record
class Change:
    """What becomes of a file: None removes it."""

    piece: Piece
    file: Path
    text: str | None


@record
class Undoing:
    """What is taken out again, and the files that only a person can look into."""

    changes: tuple[Change, ...]
    refused: tuple[FileRefused, ...]


_MARKDOWN, _HASH = ("<!-- ", " -->"), ("# ", "")
_TOML = '[mcp_servers.moot]\ncommand = "moot"\nargs = ["mcp"]'
# At these moments Claude Code tells its model what a hook prints. Who has no moot is not told of that at every prompt.
_HOOKS = Hooks(
    ".claude/settings.json",
    "hooks that show unread mail",
    "moot hook 2>/dev/null || true",
    ("SessionStart", "UserPromptSubmit"),
)
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


@record
class Setup:
    """What a person has chosen."""

    clients: tuple[Client, ...]
    workflow: Chosen = Chosen()
    has_hooks: bool = False


def wanted(root: Path, setup: Setup) -> list[Change]:
    """What is to be written; nothing that is there already."""
    hooks = (_HOOKS,) if setup.has_hooks and "claude" in setup.clients else ()
    found: list[Change] = []
    for piece in _all_pieces(setup.clients, hooks, setup.workflow):
        file = _file(root, piece)
        text = piece.put(_text(file))
        if text is not None:
            found.append(Change(piece, file, text))
    return found


def undone(root: Path) -> Undoing:
    """What is to be taken out again; a file that cannot be read holds up no other."""
    changes: list[Change] = []
    refused: list[FileRefused] = []
    for piece in _all_pieces(CLIENTS, (_HOOKS,), Chosen()):
        try:
            file = _file(root, piece)
            before = _text(file)
            if before is not None and (after := piece.take(before)) != before:
                changes.append(Change(piece, file, after))
        except FileRefused as error:
            refused.append(FileRefused(error.fact, f"If it has {piece.words}: remove that yourself."))
    return Undoing(tuple(changes), tuple(refused))


def _all_pieces(clients: Sequence[Client], hooks: Sequence[Piece], chosen: Chosen) -> list[Piece]:
    others = tuple(first_workflow.text(one) for one in first_workflow.ALL)
    workflow = Whole(first_workflow.PATH, "a first workflow, for: moot run review", first_workflow.text(chosen), others)
    return list(dict.fromkeys((workflow, *(piece for client in clients for piece in _PIECES[client]), *hooks)))


def carry_out(root: Path, changes: Sequence[Change]) -> None:
    for one in changes:
        try:
            _carry_out(root, one)
        except OSError as error:
            raise FileRefused(
                f"{one.file} cannot be changed: {error.strerror}.", "Check who may write there, then try again."
            ) from error


def _carry_out(root: Path, change: Change) -> None:
    if change.text is None:
        change.file.unlink()
        _leave(root, change.file.parent)
    else:
        _write(change.file, change.text)


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
