"""The names of branches: what git takes, told without asking it, and what moot would not take even so."""

import re
import unicodedata

from moot.core.text import inert
from moot.workspaces.errors import BranchRefused

_LONGEST = 200  # bytes: git makes a file of that name, with more behind it
_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_UNPLAIN = re.compile(r"[^\w.+-]+|\.{2,}")
_LOCK = ".lock"  # git keeps names with this end for itself


def check(name: str) -> str:
    """The same name, or BranchRefused."""
    if reason := _reason(name):
        raise BranchRefused(
            f"{inert(name[:80])!r} cannot be the name of a branch: {reason}.", "Choose a plain one: fix/login."
        )
    return name


def key(name: str) -> str:
    """The same for names that some file systems take for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def default(instance: str, who: str) -> str:
    """`moot/<instance>/<who>`, made of whatever a task or an agent is called."""
    return "/".join(("moot", *(_plain(one) for one in (instance, who))))


def _plain(text: str) -> str:
    found = _UNPLAIN.sub("-", text)[:60].strip("-.") or "work"
    return f"{found.removesuffix(_LOCK)}-lock" if found.endswith(_LOCK) else found


def _reason(name: str) -> str:
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it is no valid text"
    if not 0 < size <= _LONGEST:
        return f"it must have 1 to {_LONGEST} bytes"
    if inert(name) != name or _REFUSED.search(name):
        return "it holds what no branch may hold"
    if name.startswith(("-", "/", "refs/")) or name.endswith(("/", ".")):
        return "it begins or ends wrongly"
    if any(part.startswith(".") or part.endswith(_LOCK) for part in name.split("/")):
        return "a part of it begins with a dot or ends in .lock"
    return "it means something else to git" if name in ("@", "HEAD") or name.casefold() == "head" else ""
