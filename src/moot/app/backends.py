"""The backends of a host: the only place that picks them. What is heavy is loaded by a backend when it first runs."""

from collections.abc import Callable, Mapping

from moot.backends.backend import Backend
from moot.backends.command import CommandBackend
from moot.backends.programs.claude import Claude
from moot.backends.programs.codex import Codex
from moot.backends.programs.driver import ProgramBackend
from moot.backends.programs.gemini import Gemini
from moot.backends.programs.opencode import Opencode
from moot.backends.scripted import ScriptedBackend

_MAKERS: Mapping[str, Callable[[], Backend]] = {
    "claude": lambda: ProgramBackend(Claude()),
    "codex": lambda: ProgramBackend(Codex()),
    "command": CommandBackend,
    "gemini": lambda: ProgramBackend(Gemini()),
    "opencode": lambda: ProgramBackend(Opencode()),
    "scripted": ScriptedBackend,
}
NAMES = frozenset(_MAKERS)  # what this version runs


def make() -> dict[str, Backend]:
    """One of each, for one host."""
    return {name: make() for name, make in _MAKERS.items()}
