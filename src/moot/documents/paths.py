"""Paths of documents: one spelling for each, below the instance's folder, that no file system can take for another.

Nothing here touches a disk. A path that passes may still lead through a link there; whoever opens it looks for that.
"""

import re
import unicodedata

from moot.documents.errors import PathRefused

MOST_BYTES = 500
MOST_BYTES_OF_PART = 150  # with room for what is put around a name beside the file
DEEPEST = 8
# At the top of an instance's folder, where moot writes files of its own.
_OWN_FILES = (
    "channel.md",
    "proposals.json",
    "inbox-state.json",
    "mcp.json",
    "control.json",
    "state.json",
    "context.sock",
)
_OWN_FOLDERS = ("inboxes", "attempts", "logs")
_OWN_ENDINGS = (".sock", ".db", ".db-wal", ".db-shm", ".log", ".lock", ".pid", ".tmp")
# Programs that agents run in obey these wherever they find them.
_CONFIGURING = frozenset(("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "mcp.json"))
_CONFLICT = re.compile(r"\.conflict-[0-9]+(?:-[0-9]+)?(?:\.[^./]*)?$")


def check(path: str) -> str:
    """The path in its one spelling; PathRefused with the reason."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise _refused(path, "it is not valid Unicode") from None
    if not path:
        raise PathRefused("The name of the document is empty.", "Write a name like notes.md.")
    if size > MOST_BYTES:
        raise _refused(path, f"it is longer than {MOST_BYTES} bytes")
    path = unicodedata.normalize("NFC", path)
    parts = path.split("/")
    if len(parts) > DEEPEST:
        raise _refused(path, f"it is more than {DEEPEST} folders deep")
    for part in parts:
        if reason := _wrong(part):
            raise _refused(path, reason)
    if fold(parts[0]) in (*_OWN_FILES, *_OWN_FOLDERS):
        raise _refused(path, "moot writes that file itself")
    if fold(parts[-1]) in _CONFIGURING:
        raise _refused(path, "agents take their orders from files of that name")
    if is_conflict(path):
        raise _refused(path, "that is how the files of a conflict are called")
    return path


def fold(path: str) -> str:
    """Two paths with the same folded form are the same document."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def is_conflict(path: str) -> bool:
    """Whether this is the name of a file that was put beside a document because both had changed."""
    return _CONFLICT.search(fold(path)) is not None


def conflict(path: str, version: int, number: int = 1) -> str:
    """`notes.md` with version 3 becomes `notes.conflict-3.md`; if that is taken, `notes.conflict-3-2.md`."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    again = f"-{number}" if number > 1 else ""
    return f"{folder}{slash}{stem or ending}.conflict-{version}{again}{dot + ending if stem else ''}"


def _wrong(part: str) -> str | None:
    """Why this cannot be a folder or a file of ours."""
    if part in ("", ".", ".."):
        return "it must be a plain path below the folder of the instance"
    if len(part.encode()) > MOST_BYTES_OF_PART:
        return f"a part of it is longer than {MOST_BYTES_OF_PART} bytes"
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for one in part):
        return "it contains characters that cannot be seen"
    if "\\" in part or ":" in part:
        return "it contains a backslash or a colon"
    if part[0] in ".-" or part != part.strip() or part[-1] == ".":
        return "a part of it begins with a dot, a dash or a space, or ends with a dot or a space"
    if fold(part).endswith(_OWN_ENDINGS):
        return "files with that ending are moot's own"
    return None


def _refused(path: str, reason: str) -> PathRefused:
    shown = path[:80].encode("ascii", "backslashreplace").decode() if not path.isprintable() else path[:80]
    return PathRefused(f"{shown!r} cannot be the name of a document: {reason}.", "Write a name like findings/login.md.")
