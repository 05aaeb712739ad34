"""What a program finds around itself while it runs as an agent: how it reaches moot, and its own places if isolated."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from moot.backends.backend import Assignment, Manner

TOKEN = "MOOT_TOKEN"
_BASE = ("CONFIG", "DATA", "STATE", "CACHE")


def variables(assignment: Assignment, parent: Mapping[str, str]) -> dict[str, str]:
    """By which `moot` is found, and it and every MCP client act as this attempt."""
    return {
        "PATH": path(parent),
        "MOOT_URL": assignment.access.url,
        TOKEN: assignment.access.token,
        "MOOT_AGENT": f"{assignment.agent}@{assignment.instance}",
        "MOOT_INSTANCE": assignment.instance,
        **({"MOOT_THROUGH": "server"} if assignment.access.is_watched else {}),
    }


def path(parent: Mapping[str, str]) -> str:
    """Where programs are found: with the place of this very moot at its end, where the user's own has none."""
    found = parent.get("PATH", os.defpath)
    own = os.path.dirname(sys.executable)
    if shutil.which("moot", path=found) is not None or shutil.which("moot", path=own) is None:
        return found
    return f"{found}{os.pathsep}{own}"


def missing(manner: Manner, parent: Mapping[str, str]) -> list[str]:
    """The variables that its definition asks for and that nobody has set."""
    return [name for name in manner.env if name not in parent]


def private_places(folder: Path, homes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Empty directories of its own instead of the user's; `homes` are those of one program, below its home."""
    home = folder / "home"
    found = {"HOME": _made(home)}
    found.update({f"XDG_{name}_HOME": _made(home / f".{name.lower()}") for name in _BASE})
    found.update({name: _made(home / place) for name, place in (homes or {}).items()})
    return found


def without_places(parent: Mapping[str, str]) -> dict[str, str]:
    """The variables but for those that name the user's directories."""
    return {name: value for name, value in parent.items() if not name.startswith("XDG_")}


def _made(place: Path) -> str:
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(place)
