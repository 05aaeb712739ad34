"""The programs of agents, as far as one has to know them before they are started: what they are called, where they come
from, which keys they take instead of a login, and whether they can ask. The only place that says so."""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial

from moot.backends.programs import logins
from moot.core import accounts
from moot.core.accounts import Service
from moot.core.permissions import PRESETS, Permissions
from moot.core.records import record

Look = Callable[[Mapping[str, str]], bool | None]


@record
class AgentProgram:
    name: str
    executable: str
    install: str  # the command
    log_in: str  # the command
    has_login: Look
    keys: tuple[str, ...] = ()  # variables of the environment, which go before a login
    spare_keys: tuple[str, ...] = ()  # which count only where there is no login
    address: str | None = None  # the variable that sends everything elsewhere
    is_fixed: bool = False  # it is asked at no other address
    can_ask: bool = False  # a person, through moot
    is_all_or_nothing: bool = False  # it knows no permissions between
    by_provider: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # if it has several

    @property
    def all_keys(self) -> tuple[str, ...]:
        several = (key for keys in self.by_provider.values() for key in keys)
        return (*self.keys, *self.spare_keys, *several)

    def service(self, model: str | None = None) -> Service:
        """What it takes as an account, for this model."""
        provider = (model or "").partition("/")[0]
        spare, look = self.spare_keys, self.has_login
        if self.by_provider:
            every = (key for keys in self.by_provider.values() for key in keys)
            spare = self.by_provider.get(provider, ()) if provider else tuple(every)
            look = partial(logins.opencode, provider=provider)
        return Service(
            self.name,
            self.keys,
            spare,
            address=self.address,
            has_login=look,
            is_program=True,
            is_fixed=self.is_fixed,
        )

    def denied(self, permissions: Permissions) -> tuple[str, ...]:
        """A warning: what it may not do because it cannot ask."""
        if self.is_all_or_nothing and permissions not in (PRESETS["full"], PRESETS["read-only"]):
            none = "with these permissions it changes no file and runs no command"
            return (f"{self.name} knows only all or nothing: {none}.",)
        if self.can_ask or not permissions.asks:
            return ()
        why = f"{self.name} cannot ask for permission without a terminal"
        return (f"{why}: what it would ask for ({', '.join(permissions.asked)}) it may not do.",)


CLAUDE = AgentProgram(
    "claude",
    "claude",
    "npm install -g @anthropic-ai/claude-code",
    "claude /login",
    logins.claude,
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    address=accounts.PROVIDERS["anthropic"].address,
    can_ask=True,
)
CODEX = AgentProgram(
    "codex",
    "codex",
    "npm install -g @openai/codex",
    "codex login",
    logins.codex,
    keys=("CODEX_API_KEY",),
    spare_keys=("OPENAI_API_KEY",),
)
GEMINI = AgentProgram(
    "gemini",
    "gemini",
    "npm install -g @google/gemini-cli",
    "gemini",
    logins.gemini,
    spare_keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    address=accounts.PROVIDERS["google"].address,
)
OPENCODE = AgentProgram(
    "opencode",
    "opencode",
    "npm install -g opencode-ai",
    "opencode auth login",
    partial(logins.opencode, provider=""),
    by_provider={
        "anthropic": ("ANTHROPIC_API_KEY",),
        "openai": ("OPENAI_API_KEY",),
        "google": ("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        "openrouter": ("OPENROUTER_API_KEY",),
        "opencode": ("OPENCODE_API_KEY",),
    },
)
CURSOR = AgentProgram(
    "cursor",
    "cursor-agent",
    "curl https://cursor.com/install -fsS | bash",
    "cursor-agent login",
    logins.cursor,
    keys=("CURSOR_API_KEY",),
    is_fixed=True,
    is_all_or_nothing=True,
)
PROGRAMS: Mapping[str, AgentProgram] = {one.name: one for one in (CLAUDE, CODEX, GEMINI, OPENCODE, CURSOR)}
