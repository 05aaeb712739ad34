"""Claude Code, without a terminal: `claude -p`, with events as lines both ways.

Its input stays open while it works, for mail that comes meanwhile.
"""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from moot.backends.backend import Assignment, Briefing
from moot.backends.programs import claude_settings, conversations, counting, known, surroundings
from moot.backends.programs.claude_reader import SERVER, ClaudeReader
from moot.backends.programs.launch import Launch
from moot.backends.programs.surroundings import Needs
from moot.core import json
from moot.core.permissions import Permissions

_NEEDS = Needs(
    known.CLAUDE,
    variables=(
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "API_TIMEOUT_MS",
        "CLAUDE_CODE_MAX_RETRIES",
        "MCP_TIMEOUT",
    ),
    account=("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
    settings={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "4",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "MCP_TIMEOUT": "30000",
        "MCP_TOOL_TIMEOUT": "660000",  # more than a person has to answer
    },
    homes={"CLAUDE_CONFIG_DIR": ".claude"},
)


class Claude:
    """`claude`, from npm or its own installer."""

    name: ClassVar[str] = "claude"
    forgotten: ClassVar[str] = "No conversation found"

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        manner = assignment.manner
        env = surroundings.surround(assignment, _NEEDS, parent)
        env["CLAUDE_CODE_TMPDIR"] = env["TMPDIR"]
        if manner.base_url is not None:
            key = surroundings.own_key(manner)
            # With any key it leaves the login alone, which must not go to another address.
            env |= {"ANTHROPIC_BASE_URL": manner.base_url, "ANTHROPIC_API_KEY": env[key] if key else "none"}
        found = surroundings.find(known.CLAUDE, assignment, env)
        settings = claude_settings.arguments(assignment, env)
        if settings:
            env |= claude_settings.MEMORY
        before = conversations.before(assignment)
        session = before.handle if before else str(uuid.uuid4())
        reader = ClaudeReader(session, before, counting.tariff(manner, "anthropic"))
        argv = (
            *found,
            *_PLAIN,
            *_tools(assignment),
            *_words(assignment, briefing),
            *_model(manner.model),
            *_session(session, is_kept=conversations.is_kept(manner), is_new=before is None),
            *_permissions(manner.permissions),
            *_turns(surroundings.most_turns(assignment)),
            *settings,
        )
        return Launch(
            argv,
            env,
            reader.say(briefing.prompt),
            reader,
            say=reader.say,
            secrets=surroundings.secrets(env, assignment, _NEEDS),
            warnings=conversations.warning(manner),
        )


_PLAIN = (
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--replay-user-messages",
    "--verbose",
    "--strict-mcp-config",
)


def _tools(assignment: Assignment) -> tuple[str, ...]:
    """Our server; the token comes by environment."""
    server = {
        "type": "http",
        "url": assignment.access.url,
        "alwaysLoad": True,  # else its tools hide behind a search
        "headers": {"Authorization": f"Bearer ${{{surroundings.TOKEN}}}"},
    }
    content = json.dumps({"mcpServers": {SERVER: server}})
    return ("--mcp-config", str(surroundings.write(assignment.folder, "mcp.json", content)))


def _words(assignment: Assignment, briefing: Briefing) -> tuple[str, ...]:
    if not briefing.system_prompt:
        return ()
    flag = "--system-prompt-file" if assignment.manner.replaces_system_prompt else "--append-system-prompt-file"
    return (flag, str(surroundings.write(assignment.folder, "system-prompt.md", briefing.system_prompt)))


def _model(model: str | None) -> tuple[str, ...]:
    name = surroundings.model_name(model, ("anthropic",))
    return ("--model", name) if name else ()


def _session(session: str, *, is_kept: bool, is_new: bool) -> tuple[str, ...]:
    if not is_kept:
        return ("--no-session-persistence",)
    return ("--session-id", session) if is_new else ("--resume", session)


def _turns(most: int | None) -> tuple[str, ...]:
    return () if most is None else ("--max-turns", str(most))


def _permissions(permissions: Permissions) -> tuple[str, ...]:
    """Rules by name: a mode that allows everything is refused to root, and one of the user's own must not apply."""
    allowed = [f"mcp__{SERVER}__*", *claude_settings.allowed(permissions)]
    denied = claude_settings.tools(permissions, "deny")
    asks = ("--permission-prompt-tool", f"mcp__{SERVER}__approve") if permissions.asks else ()
    return (
        *("--permission-mode", "default"),
        *asks,
        *claude_settings.offered(permissions),
        *("--allowedTools", ",".join(allowed)),
        *(("--disallowedTools", ",".join(denied)) if denied else ()),
    )
