"""opencode, without a terminal: `opencode run --format json`, the prompt by standard input.

Our settings come in a variable of the environment, which outranks every file. It cannot ask for permission, and it has
no event for the end: an answer is finished when the last step says so.

What a file says of one agent outranks what is said for all. One that may not do everything is therefore run as an agent
that no file can know of, whose rules come last, and without the files of the project, which name programs to start.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from moot.backends.backend import Assignment, Briefing, Called, Conversation, Usage, Wrote
from moot.backends.programs import conversations, faults, fields, known, surroundings
from moot.backends.programs.launch import NOTHING_USED, Event, Launch, Outcome, Reader, Spoken
from moot.backends.programs.surroundings import Needs
from moot.core import json
from moot.core.json import Json
from moot.core.permissions import PRESETS, Answer, Permissions

SERVER = "moot"
_NEEDS = Needs(
    known.OPENCODE,
    variables=("OPENCODE_MODELS_URL", "npm_config_registry"),
    users=("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
    account=("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
    settings={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    },
)
_FINISHED = frozenset(("stop", "length", "content-filter"))


class Opencode:
    """`opencode`, from npm or its own installer."""

    name: ClassVar[str] = "opencode"
    forgotten: ClassVar[str] = "Session not found"

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        manner = assignment.manner
        env = surroundings.surround(assignment, _NEEDS, parent)
        found = surroundings.find(known.OPENCODE, assignment, env)
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(_settings(assignment, briefing))
        if _skips_project(assignment):
            env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
        if manner.base_url is not None:
            env |= _elsewhere(assignment, env)
        before = conversations.before(assignment)
        argv = (
            *found,
            *("run", "--format", "json", "--pure"),
            *(("--agent", _agent(assignment)) if _is_restricted(manner.permissions) else ()),
            *(("--model", manner.model) if manner.model else ()),
            *(("--session", before.handle) if before else ()),
        )
        return Launch(
            argv,
            env,
            briefing.prompt.encode(),
            OpencodeReader(before),
            secrets=surroundings.secrets(env, assignment, _NEEDS),
            warnings=(
                *known.OPENCODE.denied(manner.permissions),
                *surroundings.unlimited(assignment, _NEEDS),
                *conversations.warning(manner),
            ),
        )


def _is_restricted(permissions: Permissions) -> bool:
    return permissions != PRESETS["full"]


def _skips_project(assignment: Assignment) -> bool:
    return _is_restricted(assignment.manner.permissions) or assignment.manner.base_url is not None


def _elsewhere(assignment: Assignment, env: Mapping[str, str]) -> dict[str, str]:
    """Another address gets nothing of the user's configuration, where keys and headers stand, nor of the login. What
    other programs keep beside it is still found."""
    users = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or "/nonexistent") / ".config")
    own = assignment.folder / "config"
    own.mkdir(mode=0o700, exist_ok=True)
    for entry in users.iterdir() if users.is_dir() else ():
        if entry.name != "opencode" and not (own / entry.name).is_symlink():
            (own / entry.name).symlink_to(entry)
    home = str(assignment.folder)  # for opencode alone, which reads `.opencode` there
    return {"XDG_CONFIG_HOME": str(own), "OPENCODE_TEST_HOME": home, "OPENCODE_AUTH_CONTENT": "{}"}


def _agent(assignment: Assignment) -> str:
    """Its own agent, or one that is ours alone: no file can say anything of a name that nobody could foresee."""
    return f"moot-{assignment.attempt}" if _is_restricted(assignment.manner.permissions) else "build"


def _settings(assignment: Assignment, briefing: Briefing) -> dict[str, Json]:
    manner = assignment.manner
    rules = _rules(manner.permissions)
    agent: dict[str, Json] = {}
    settings: dict[str, Json] = {
        "autoupdate": False,
        "share": "disabled",
        "mcp": {
            SERVER: {
                "type": "remote",
                "url": assignment.access.url,
                "enabled": True,
                "oauth": False,
                "headers": {"Authorization": f"Bearer {{env:{surroundings.TOKEN}}}"},
                "timeout": 660_000,
            }
        },
        "permission": rules,
    }
    instructions: list[str] = []
    if _is_restricted(manner.permissions):
        agent = {"mode": "primary", "permission": rules}
    if _skips_project(assignment):
        instructions += _of_the_project(assignment.workspace)
    if briefing.system_prompt:
        place = surroundings.write(assignment.folder, "system-prompt.md", briefing.system_prompt)
        if manner.replaces_system_prompt:
            agent["prompt"] = f"{{file:{place}}}"
        else:
            instructions.append(str(place))
    if agent:
        settings["agent"] = {_agent(assignment): agent}
    if instructions:
        settings["instructions"] = instructions
    if manner.base_url is not None:
        provider = (manner.model or "openai/").partition("/")[0]
        key = surroundings.own_key(manner)
        options = {"baseURL": manner.base_url, "apiKey": f"{{env:{key}}}" if key else "none"}
        settings["provider"] = {provider: {"options": options}}
    return settings


def _of_the_project(workspace: Path) -> list[str]:
    """What it would read for itself if it read the files of the project."""
    found = (workspace / name for name in ("AGENTS.md", "CLAUDE.md", "CONTEXT.md"))
    return [str(place) for place in found if place.is_file()][:1]


def _rules(permissions: Permissions) -> dict[str, Json]:
    """The last that fits counts, so these stand after every other."""
    rules: dict[str, Json] = {
        f"{SERVER}_*": "allow",
        "edit": _answer(permissions.edit),
        "bash": _answer(permissions.shell),
        "webfetch": _answer(permissions.network),
        "websearch": _answer(permissions.network),
        "external_directory": _answer(permissions.shell),
    }
    # An agent that it hands work to has rules of its own.
    return {**rules, "task": "deny"} if _is_restricted(permissions) else rules


def _answer(answer: Answer) -> str:
    """Nobody could be asked."""
    return "allow" if answer == "allow" else "deny"


class OpencodeReader(Reader):
    """Reads the events of one run. It counts each step by itself, so a conversation's total is kept by us."""

    def __init__(self, before: Conversation | None) -> None:
        self._before = before
        self._session = ""
        self._text: list[str] = []
        self._usage = NOTHING_USED
        self._error: Mapping[str, Json] | None = None
        self._reason = ""

    @property
    def is_over(self) -> bool:
        return self._reason in _FINISHED or self._error is not None

    def read(self, event: Event) -> Iterator[Spoken]:
        self._session = fields.text(event, "sessionID") or self._session
        part = fields.part(event, "part")
        match event.get("type"):
            case "step_start":
                self._reason = ""
                self._text.clear()
            case "text":
                self._text.append(fields.text(part, "text"))
                yield Wrote(self._text[-1])
            case "tool_use":
                status = fields.part(part, "state").get("status")
                yield Called(fields.text(part, "tool").removeprefix(f"{SERVER}_"), status != "completed")
            case "step_finish":
                self._reason = fields.text(part, "reason")
                told = _used(part)
                self._usage += told
                yield told
            case "error":
                self._error = fields.part(event, "error")
            case _:
                pass

    def used(self) -> Usage:
        return self._usage

    def outcome(self) -> Outcome | None:
        used = self._usage
        if self._error is not None:
            return _failed(self._error, used)
        if self._reason not in _FINISHED:
            return None
        text = "\n\n".join(self._text)
        if self._reason != "stop":
            return Outcome(
                "limit" if self._reason == "length" else "refused", f"it ended with {self._reason}", text, used
            )
        total = used + self._before.used if self._before else used
        return Outcome(text=text, usage=used, conversation=Conversation(self._session, total))


def _used(part: Mapping[str, Json]) -> Usage:
    tokens = fields.part(part, "tokens")
    cache = fields.part(tokens, "cache")
    return Usage(
        fields.count(tokens, "input") + fields.count(cache, "read", "write"),
        fields.count(tokens, "output", "reasoning"),
        1,
        fields.number(part, "cost"),
    )


def _failed(error: Mapping[str, Json], used: Usage) -> Outcome:
    data = fields.part(error, "data")
    status, name = fields.count(data, "statusCode"), fields.text(error, "name")
    message = fields.text(data, "message") or name or "it failed and did not say why"
    if status:
        failure = faults.by_status(status, message)
    else:
        failure = "auth" if "Auth" in name else faults.by_words(message) or "error"
    return Outcome(failure, message, usage=used)
