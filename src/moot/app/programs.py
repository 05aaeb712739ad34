"""The programs of agents, as far as one has to know them before they are started: what they are called, where they come
from, and which keys they take instead of a login."""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.workflow.workflow import Backend


@dataclass(frozen=True, slots=True)
class AgentProgram:
    executable: str
    install: str  # the command
    keys: tuple[str, ...]  # variables of the environment


PROGRAMS: Mapping[Backend, AgentProgram] = {
    "claude": AgentProgram(
        "claude",
        "npm install -g @anthropic-ai/claude-code",
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    ),
    "codex": AgentProgram("codex", "npm install -g @openai/codex", ("OPENAI_API_KEY", "CODEX_API_KEY")),
    "gemini": AgentProgram("gemini", "npm install -g @google/gemini-cli", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "opencode": AgentProgram(
        "opencode",
        "npm install -g opencode-ai",
        (
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENROUTER_API_KEY",
            "OPENCODE_API_KEY",
        ),
    ),
    "cursor": AgentProgram("cursor-agent", "curl https://cursor.com/install -fsS | bash", ("CURSOR_API_KEY",)),
}
MODELS_EXTRA = "pip install 'moot[llm]' (in a checkout: pip install '.[llm]')"
