"""What runs each agent program. Apart from `known`, which is asked of them all: to run one takes much more."""

from collections.abc import Mapping

from moot.backends.backend import Backend
from moot.backends.programs.claude import Claude
from moot.backends.programs.codex import Codex
from moot.backends.programs.cursor import Cursor
from moot.backends.programs.driver import ProgramBackend
from moot.backends.programs.gemini import Gemini
from moot.backends.programs.launch import Kind
from moot.backends.programs.opencode import Opencode

KINDS: Mapping[str, type[Kind]] = {kind.name: kind for kind in (Claude, Codex, Cursor, Gemini, Opencode)}


def backend(program: str) -> Backend:
    return ProgramBackend(KINDS[program]())
