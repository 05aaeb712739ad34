"""The agent programs that people have installed, each run as an agent through one driver."""

from collections.abc import Mapping

from moot.backends.backend import Backend
from moot.backends.programs.claude import Claude
from moot.backends.programs.codex import Codex
from moot.backends.programs.cursor import Cursor
from moot.backends.programs.driver import Limits, ProgramBackend
from moot.backends.programs.gemini import Gemini
from moot.backends.programs.launch import Kind
from moot.backends.programs.opencode import Opencode

KINDS: tuple[type[Kind], ...] = (Claude, Codex, Cursor, Gemini, Opencode)


def programs(limits: Limits | None = None, parent: Mapping[str, str] | None = None) -> Mapping[str, Backend]:
    """A backend for each, by name. `parent` is the environment to take from; None: this process's own."""
    return {kind.name: ProgramBackend(kind(), limits, parent) for kind in KINDS}
