"""Setting up a project for agents that come by themselves, and taking that back."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from moot.api.access import Inside, find_project
from moot.app import first_files
from moot.app.first_files import CLIENTS, Change, Client
from moot.core.errors import NotAllowed

_PROGRAMS: dict[Client, tuple[str, ...]] = {
    "claude": ("claude",),
    "codex": ("codex",),
    "cursor": ("cursor", "cursor-agent", "agent"),
}
_OTHERWISE: tuple[Client, ...] = ("claude",)


def root() -> Path:
    """NotAllowed for an agent: what others are told in a project is for its people to say."""
    if Inside.found(os.environ) is not None:
        raise NotAllowed("An agent may not set up the project.", "Ask the person: mention @human.")
    return find_project().root


def installed() -> tuple[Client, ...]:
    """Whose programs are here; Claude Code's files, if none is."""
    found: tuple[Client, ...] = tuple(one for one in CLIENTS if any(map(shutil.which, _PROGRAMS[one])))
    return found or _OTHERWISE


def wanted(clients: Sequence[Client]) -> list[Change]:
    return first_files.wanted(root(), clients)


def undone() -> list[Change]:
    return first_files.undone(root())


def carry_out(changes: Sequence[Change]) -> None:
    first_files.carry_out(root(), changes)


def is_found() -> bool:
    """Whether a client would find the program that its entry names."""
    return shutil.which("moot") is not None
