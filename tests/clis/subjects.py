"""The programs under test, each with its key, its model and its way to a fake API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from moot.backends.backend import Manner
from moot.backends.programs.claude import Claude
from moot.backends.programs.codex import Codex
from moot.backends.programs.driver import Limits, ProgramBackend
from moot.backends.programs.gemini import Gemini
from moot.backends.programs.launch import Kind
from moot.backends.programs.opencode import Opencode
from tests.backends.programs.stage import FULL
from tests.fake_models import FakeModels

CANARY = "sk-dummy-canary-4711"


@dataclass(frozen=True)
class Subject:
    name: str
    kind: Callable[[], Kind]
    key: str
    model: str | None
    base: Callable[[str], str]
    shell: tuple[str, Callable[[str], dict[str, object]]]  # its own tool for commands, and the arguments for one
    settings: Mapping[str, str]

    def backend(self, parent: Mapping[str, str], limits: Limits | None = None) -> ProgramBackend:
        return ProgramBackend(self.kind(), limits, {**parent, **self.settings, self.key: CANARY})

    def manner(self, server: FakeModels | str, manner: Manner = FULL) -> Manner:
        url = server if isinstance(server, str) else server.url
        return replace(manner, model=self.model, base_url=self.base(url), env=(self.key,))


CLAUDE = Subject(
    "claude",
    Claude,
    "ANTHROPIC_API_KEY",
    "anthropic/claude-sonnet-4-5",
    str,
    ("Bash", lambda command: {"command": command, "description": "x"}),
    {"CLAUDE_CODE_MAX_RETRIES": "0"},
)
CODEX = Subject(
    "codex",
    Codex,
    "OPENAI_API_KEY",
    "openai/gpt-5",  # one that it does not know gets its tools as plain functions
    lambda url: f"{url}/v1",
    ("exec_command", lambda command: {"cmd": command}),
    {},
)
GEMINI = Subject(
    "gemini",
    Gemini,
    "GEMINI_API_KEY",
    "google/gemini-2.5-pro",
    str,
    ("run_shell_command", lambda command: {"command": command}),
    {},
)
OPENCODE = Subject(
    "opencode",
    Opencode,
    "ANTHROPIC_API_KEY",
    "anthropic/claude-sonnet-4-5",
    lambda url: f"{url}/v1",
    ("bash", lambda command: {"command": command, "description": "x"}),
    {"npm_config_registry": "http://127.0.0.1:1"},
)
ALL = (CLAUDE, CODEX, GEMINI, OPENCODE)
