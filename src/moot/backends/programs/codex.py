"""Codex, without a terminal: `codex exec --json`, the prompt by standard input.

It cannot ask for permission: what would have to be asked for is closed to it. What it is told beside its own system
prompt stands at the head of the prompt, because the setting for it exists only as an argument, which everybody on the
machine can read, or in the user's own configuration.
"""

import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from moot.backends.backend import Assignment, Briefing, Called, Conversation, Failure, Manner, Usage, Warned, Wrote
from moot.backends.programs import conversations, counting, faults, fields, known, surroundings
from moot.backends.programs.counting import Tariff
from moot.backends.programs.launch import Event, Launch, Outcome, Reader, Spoken, headed
from moot.backends.programs.surroundings import Needs
from moot.core import json
from moot.core.json import Json
from moot.core.permissions import Permissions

SERVER = "moot"
_NEEDS = Needs(
    known.CODEX,
    variables=("CODEX_CA_CERTIFICATE", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
    users=("CODEX_ACCESS_TOKEN",),
    account=("CODEX_ACCESS_TOKEN",),
    homes={"CODEX_HOME": ".codex"},
)
_PLAIN = (
    *("exec", "--json", "--skip-git-repo-check", "--ignore-user-config"),
    *("-c", "analytics.enabled=false"),
    *("-c", "check_for_update_on_startup=false"),
    *("--disable", "plugins", "--disable", "apps", "--disable", "unbounded_connection_retries"),
    *("--disable", "shell_snapshot"),  # a file in the user's home with the whole environment, token and keys included
)
_LAST = "last-message.md"


class Codex:
    """`codex`, from npm or as one binary."""

    name: ClassVar[str] = "codex"
    forgotten: ClassVar[str] = "no rollout found"

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        manner = assignment.manner
        env = surroundings.surround(assignment, _NEEDS, parent)
        account = surroundings.account(assignment, _NEEDS, parent)
        if manner.base_url is None and account.key is not None:
            env["CODEX_API_KEY"] = env[account.key]  # the only one it takes without a login
        found = surroundings.find(known.CODEX, assignment, env)
        program = native(Path(found[0])) if len(found) == 1 else None
        before = conversations.before(assignment)
        last = assignment.folder / _LAST
        argv = (
            *((str(program),) if program else found),
            *_PLAIN,
            *_tools(assignment),
            *_permissions(manner.permissions),
            *_model(manner),
            *_words(assignment, briefing),
            *("-o", str(last)),
            *(() if conversations.is_kept(manner) else ("--ephemeral",)),
            *(("resume", before.handle) if before else ()),
            "-",
        )
        return Launch(
            argv,
            env if program is None else _with_tools(env, program),
            (briefing.prompt if manner.replaces_system_prompt else headed(briefing)).encode(),
            CodexReader(before, last, counting.tariff(manner, "openai")),
            secrets=surroundings.secrets(env, assignment, _NEEDS),
            warnings=(
                *known.CODEX.denied(manner.permissions),
                *surroundings.unlimited(assignment, _NEEDS),
                *conversations.warning(manner),
            ),
        )


def native(found: Path) -> Path | None:
    """The binary behind the wrapper from npm, which leaves it running when it is itself ended."""
    script = found.resolve()
    if script.suffix != ".js":
        return None
    package = script.parent.parent
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    system = "apple-darwin" if sys.platform == "darwin" else "unknown-linux-musl"
    places = (package, *package.parent.glob("codex-*"), *package.glob("node_modules/@openai/codex-*"))
    binaries = (place / "vendor" / f"{machine}-{system}" / "bin" / "codex" for place in places)
    return next((binary for binary in binaries if binary.is_file()), None)


def _with_tools(env: Mapping[str, str], program: Path) -> dict[str, str]:
    """With the programs that come with it on the PATH, as the wrapper would have it."""
    beside = program.parent.parent / "codex-path"
    return {**env, "PATH": f"{beside}:{env.get('PATH', '')}"} if beside.is_dir() else dict(env)


def _tools(assignment: Assignment) -> tuple[str, ...]:
    settings = {
        "url": _quoted(assignment.access.url),
        "bearer_token_env_var": _quoted(surroundings.TOKEN),
        "required": "true",  # else it goes on without
        "default_tools_approval_mode": '"approve"',  # else every call is refused
        "startup_timeout_sec": "30",
        "tool_timeout_sec": "660",
    }
    table = ",".join(f"{name}={value}" for name, value in settings.items())
    return ("-c", f"mcp_servers.{SERVER}={{{table}}}")


def _permissions(permissions: Permissions) -> tuple[str, ...]:
    """Its sandbox is what it may do; only one that may do everything goes without."""
    may_edit, may_reach = permissions.edit == "allow", permissions.network == "allow"
    if may_edit and may_reach and permissions.shell == "allow":
        return ("-s", "danger-full-access")
    return (
        "--ignore-rules",  # what they allow is run outside of the sandbox
        *("-s", "workspace-write" if may_edit else "read-only"),
        *("-c", f"sandbox_workspace_write.network_access={'true' if may_reach else 'false'}"),
        *(() if may_reach else ("-c", 'web_search="disabled"')),
        *(() if permissions.shell == "allow" else ("--disable", "shell_tool")),
    )


def _model(manner: Manner) -> tuple[str, ...]:
    name = surroundings.model_name(manner.model, ("openai",))
    chosen = ("-m", name) if name else ()
    if manner.base_url is None:
        return chosen
    key = surroundings.own_key(manner)
    settings = {
        "name": '"custom"',
        "base_url": _quoted(manner.base_url),
        "wire_api": '"responses"',
        "request_max_retries": "3",
        "stream_max_retries": "3",
        **({"env_key": _quoted(key)} if key else {}),
    }
    table = ",".join(f"{name}={value}" for name, value in settings.items())
    return (*chosen, "-c", 'model_provider="custom"', "-c", f"model_providers.custom={{{table}}}")


def _words(assignment: Assignment, briefing: Briefing) -> tuple[str, ...]:
    if not (briefing.system_prompt and assignment.manner.replaces_system_prompt):
        return ()
    place = surroundings.write(assignment.folder, "system-prompt.md", briefing.system_prompt)
    return ("-c", f"model_instructions_file={_quoted(str(place))}")


def _quoted(text: str) -> str:
    """As a TOML string, which takes everything that a JSON string may hold."""
    return json.dumps(text)


class CodexReader(Reader):
    """Reads the events of one run."""

    def __init__(self, before: Conversation | None, last: Path, tariff: Tariff) -> None:
        self._before = before
        self._last = last
        self._tariff = tariff
        self._thread = before.handle if before else ""
        self._text = ""
        self._trouble = ""

    def read(self, event: Event) -> Iterator[Spoken]:
        match event.get("type"):
            case "thread.started":
                self._thread = fields.text(event, "thread_id")
            case "item.completed":
                yield from self._item(fields.part(event, "item"))
            case "error":
                self._trouble = fields.text(event, "message")
                yield Warned(f"codex: {self._trouble}")
            case "turn.completed" | "turn.failed":
                self.end = event
            case _:
                pass

    def _item(self, item: Mapping[str, Json]) -> Iterator[Spoken]:
        has_failed = item.get("status") == "failed"
        match item.get("type"):
            case "agent_message":
                self._text = fields.text(item, "text")
                yield Wrote(self._text)
            case "mcp_tool_call":
                yield Called(fields.text(item, "tool"), has_failed or bool(item.get("error")))
            case "command_execution":
                yield Called("shell", has_failed or bool(fields.count(item, "exit_code")))
            case "file_change":
                yield Called("edit", has_failed)
            case "web_search":
                yield Called("web_search", has_failed)
            case "error":
                yield Warned(f"codex: {fields.text(item, 'message')}")
            case _:
                pass

    def explain(self, printed: str) -> Failure | None:
        if SERVER in printed and "required MCP servers failed" in printed:
            return "no_tools"
        return faults.by_words(self._trouble or printed)

    def outcome(self) -> Outcome | None:
        if self.end is None:
            return None
        if self.end.get("type") == "turn.failed":
            error = fields.text(fields.part(self.end, "error"), "message") or self._trouble
            # What a provider refuses comes without a status: its answer as it is.
            failure = faults.by_words(error) or ("refused" if error.lstrip().startswith("{") else "error")
            return Outcome(failure, error, usage=self.used(), conversation=self._before)
        used = fields.part(self.end, "usage")
        turns = 1 + (self._before.used.turns if self._before else 0)
        total = self._tariff.estimate(
            Usage(fields.count(used, "input_tokens"), fields.count(used, "output_tokens"), turns, is_estimated=True),
            fields.count(used, "cached_input_tokens"),
        )
        return Outcome(
            text=self._final(),
            usage=counting.since(total, self._before),
            conversation=Conversation(self._thread, total) if self._thread else None,
        )

    def _final(self) -> str:
        try:
            return self._last.read_text(encoding="utf-8", errors="replace").rstrip("\n") or self._text
        except OSError:
            return self._text
