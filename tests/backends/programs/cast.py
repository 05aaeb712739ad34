"""A stand-in for each program, with the lines that the real one was seen to print."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moot.backends.backend import Manner
from moot.backends.programs.claude import Claude
from moot.backends.programs.codex import Codex
from moot.backends.programs.cursor import Cursor
from moot.backends.programs.driver import Limits, ProgramBackend
from moot.backends.programs.gemini import Gemini
from moot.backends.programs.launch import Kind
from moot.backends.programs.opencode import Opencode
from moot.core.permissions import PRESETS

Step = Mapping[str, Any]
STANDIN = Path(__file__).with_name("standin.py")
KEY = "sk-canary-of-the-key-1234"


@dataclass(frozen=True)
class Part:
    """One program: how it begins, and how it says that it has succeeded."""

    name: str
    kind: Callable[[], Kind]
    key: str
    opening: Sequence[Step]
    ending: Callable[[str], Sequence[Step]]


@dataclass(frozen=True)
class Role:
    """A stand-in that plays a part."""

    part: Part
    script: Path
    backend: ProgramBackend

    def manner(self, manner: Manner | None = None) -> Manner:
        base = manner or Manner(permissions=PRESETS["full"])
        command = (sys.executable, "-S", str(STANDIN), str(self.script))
        return Manner(
            None,
            base.permissions,
            base.replaces_system_prompt,
            base.is_isolated,
            base.keeps_conversation,
            command,
            None,
            base.env,
        )

    def seen(self) -> dict[str, Any]:
        """What it was started with."""
        found: dict[str, Any] = json.loads(self.script.with_suffix(".seen").read_text())
        return found


def cast(part: Part, root: Path, steps: Sequence[Step], limits: Limits | None = None, **env: str) -> Role:
    script = root / "script.json"
    script.write_text(json.dumps(list(steps)))
    home = root / "home"
    home.mkdir(exist_ok=True)
    parent = {"PATH": "/usr/bin:/bin", "HOME": str(home), part.key: KEY, "SECRET_OF_THE_USER": "not for it", **env}
    return Role(part, script, ProgramBackend(part.kind(), limits or Limits(grace=0.5), parent))


def claude_init(status: str = "connected") -> Step:
    return {"print": {"type": "system", "subtype": "init", "mcp_servers": [{"name": "moot", "status": status}]}}


REPLAY: Step = {"print": {"type": "user", "message": {"content": [{"type": "text", "text": "x"}]}, "isReplay": True}}


def claude_result(text: str, **more: Any) -> Step:
    usage = {"m": {"inputTokens": 90, "cacheReadInputTokens": 10, "outputTokens": 20, "costUSD": 0.5}}
    result = {"subtype": "success", "is_error": False, "num_turns": 1, "result": text, "total_cost_usd": 0.5}
    return {"print": {**result, "modelUsage": usage, "permission_denials": [], **more, "type": "result"}}


CLAUDE = Part(
    "claude",
    Claude,
    "ANTHROPIC_API_KEY",
    [{"connect": True}, claude_init(), {"read": 1}, REPLAY],
    lambda text: [claude_result(text), {"read_all": True}],
)
CODEX = Part(
    "codex",
    Codex,
    "OPENAI_API_KEY",
    [{"read_all": True}, {"connect": True}, {"print": {"type": "thread.started", "thread_id": "t-1"}}],
    lambda text: [
        {"print": {"type": "item.completed", "item": {"type": "agent_message", "text": text}}},
        {"print": {"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 20}}},
    ],
)
GEMINI = Part(
    "gemini",
    Gemini,
    "GEMINI_API_KEY",
    [{"read_all": True}, {"connect": True}, {"print": {"type": "init", "session_id": "s-1"}}],
    lambda text: [
        {"print": {"type": "message", "role": "assistant", "content": text, "delta": True}},
        {"print": {"type": "result", "status": "success", "stats": {"input_tokens": 100, "output_tokens": 20}}},
    ],
)
OPENCODE = Part(
    "opencode",
    Opencode,
    "ANTHROPIC_API_KEY",
    [{"read_all": True}, {"connect": True}, {"print": {"type": "step_start", "sessionID": "s-1"}}],
    lambda text: [
        {"print": {"type": "text", "sessionID": "s-1", "part": {"text": text}}},
        {"print": {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 100, "output": 20}}}},
    ],
)
CURSOR = Part(
    "cursor",
    Cursor,
    "CURSOR_API_KEY",
    [{"read_all": True}, {"connect": True}, {"print": {"type": "system", "subtype": "init", "session_id": "s-1"}}],
    lambda text: [
        {"print": {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}},
        {"print": {"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": "s-1"}},
    ],
)
ALL = (CLAUDE, CODEX, CURSOR, GEMINI, OPENCODE)
