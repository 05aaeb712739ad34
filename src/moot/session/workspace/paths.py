"""Paths below the workspace, as models write them. Nothing here touches a disk.

A path that passes may still lead through a link there; whoever opens it follows none.
"""

import unicodedata
from collections.abc import Set
from itertools import pairwise

from moot.session.workspace.errors import PathRefused

_MOST_BYTES = 4000
_MOST_BYTES_OF_PART = 255
# At any depth: a repository inside of another is one, too.
_CLOSED = frozenset((".git", ".workflow"))
# Agents and the programs they run in obey these: who writes them says what others do.
_CONFIGURING = frozenset(
    (
        *(".moot", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".vscode", ".mcp.json", "opencode.json"),
        *("opencode.jsonc", ".windsurf", ".clinerules", ".cline", ".roo", ".continue", ".kiro", ".junie", ".amazonq"),
        *(".augment", ".trae", ".qwen", ".crush", "crush.json", ".factory", ".agent", ".agents", ".aider.conf.yml"),
        *("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "qwen.md", "crush.md"),
        *(".cursorrules", ".windsurfrules", ".roorules", ".roomodes", ".goosehints", ".rules", "warp.md"),
        *(f".github/{name}" for name in ("copilot-instructions.md", "instructions", "prompts", "agents", "chatmodes")),
    )
)


def readable(path: str) -> str:
    """The path in its plain spelling; PathRefused with the reason."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise _refused(path, "it is not valid Unicode") from None
    if size > _MOST_BYTES:
        raise _refused(path, f"it is longer than {_MOST_BYTES} bytes")
    if "\0" in path:
        raise _refused(path, "it contains a NUL")
    if path.startswith(("/", "~")):
        raise _refused(path, "it does not begin in the working directory")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        raise _refused(path, "it names no file")
    if ".." in parts:
        raise _refused(path, "it leads out of the working directory")
    if any(len(part.encode()) > _MOST_BYTES_OF_PART for part in parts):
        raise _refused(path, f"a part of it is longer than {_MOST_BYTES_OF_PART} bytes")
    if any(is_closed(part) for part in parts):
        raise _refused(path, "what git and moot keep there is not for agents")
    return "/".join(parts)


def writable(path: str, orders: Set[str] = frozenset()) -> str:
    """The same for a file that is to be changed; `orders` are the paths of others that are not, as `fold` has them."""
    plain = readable(path)
    folded = fold(plain)
    parts = folded.split("/")
    names = (*parts, *map("/".join, pairwise(parts)))
    if folded in orders or not _CONFIGURING.isdisjoint(names):
        raise PathRefused(
            f"{_shown(path)} cannot be changed: agents take their orders from it.", "Ask the person to change it."
        )
    return plain


def is_closed(part: str) -> bool:
    """Whether nobody may look into what has this name."""
    return fold(part) in _CLOSED


def shown(path: str) -> str:
    """Names on disk may be no text."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def fold(part: str) -> str:
    """As file systems may see it that do not tell capital letters and leave out what cannot be seen."""
    seen = "".join(one for one in part if unicodedata.category(one) != "Cf")
    return unicodedata.normalize("NFC", seen).casefold()


def _refused(path: str, reason: str) -> PathRefused:
    return PathRefused(
        f"{_shown(path)} cannot be used: {reason}.", "Write a path relative to the working directory, like src/a.py."
    )


def _shown(path: str) -> str:
    return repr(path[:80]) if path.isprintable() else repr(path[:80].encode("ascii", "backslashreplace").decode())
