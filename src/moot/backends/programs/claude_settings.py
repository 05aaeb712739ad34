"""Which settings Claude Code reads: no file may outrank what an agent may do, or send the user's account elsewhere.

A repository's settings run commands at will (hooks, helpers for keys), and name addresses and headers: only an agent
that may do everything reads them. The user's own are read for the login; what they allow is asked for all the same. At
another address none are read, because credentials stand in them.
"""

from collections.abc import Mapping
from pathlib import Path

from moot.backends.backend import Assignment
from moot.backends.programs import fields, logins, surroundings
from moot.core import json
from moot.core.json import Json
from moot.core.permissions import PRESETS, Answer, Permissions

_EDIT = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_SHELL = ("Bash", "BashOutput", "KillShell", "Monitor", "PowerShell")
_NETWORK = ("WebFetch", "WebSearch")
# What changes nothing but Claude Code itself. It has more that asks nobody: worktrees, timers, scripts.
_HARMLESS = (
    *("Agent", "Glob", "Grep", "LS", "ListAgents", "NotebookRead", "Read", "ReportFindings", "SendMessage", "Skill"),
    *("Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch"),
)
_IN_THE_WORKSPACE = "Edit(./**)"  # for all tools that edit; a bare name would be for all of the user's files
# What the project tells in words comes with the folder where it does not come with the settings.
MEMORY = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}


def tools(permissions: Permissions, answer: Answer) -> list[str]:
    """Those of its tools for which this is the answer."""
    kinds = ((permissions.edit, _EDIT), (permissions.shell, _SHELL), (permissions.network, _NETWORK))
    return [name for given, names in kinds if given == answer for name in names]


def allowed(permissions: Permissions) -> list[str]:
    """The tools that need no question, wherever they are used."""
    names = tools(permissions, "allow")
    return [name for name in names if name not in _EDIT] if _is_restricted(permissions) else names


def offered(permissions: Permissions) -> tuple[str, ...]:
    """The tools of its own that it has at all: every one only if it may do everything."""
    if not _is_restricted(permissions):
        return ()
    names = (*_HARMLESS, *tools(permissions, "allow"), *tools(permissions, "ask"))
    return ("--tools", ",".join(names))


def _is_restricted(permissions: Permissions) -> bool:
    return permissions != PRESETS["full"]


def arguments(assignment: Assignment, env: Mapping[str, str]) -> tuple[str, ...]:
    manner = assignment.manner
    is_restricted = _is_restricted(manner.permissions)
    is_elsewhere = manner.base_url is not None
    if not is_restricted and not is_elsewhere:
        return ()
    ours: dict[str, Json] = {}
    rules: dict[str, Json] = {}
    if is_restricted:
        ours |= {"disableAllHooks": True, "permissions": rules}  # a hook could permit what is to be asked for
    if is_restricted and manner.permissions.edit == "allow":
        rules["allow"] = [_IN_THE_WORKSPACE]
    if manner.permissions.asks:
        rules["ask"] = [] if is_elsewhere else _allowed_by_user(manner.permissions, env)
        ours["sandbox"] = {"autoAllowBashIfSandboxed": False}
    return (
        *("--setting-sources", "" if is_elsewhere else "user"),
        *("--add-dir", str(assignment.workspace)),
        *("--settings", str(surroundings.write(assignment.folder, "settings.json", json.dumps(ours)))),
    )


def _allowed_by_user(permissions: Permissions, env: Mapping[str, str]) -> list[str]:
    """The user's rules for what is to be asked for: a rule that asks goes before one that allows. Only those, because a
    rule for a whole tool would ask for every `ls`, too."""
    names = tools(permissions, "ask")
    place = Path(env.get("CLAUDE_CONFIG_DIR") or Path(env.get("HOME") or "/nonexistent") / ".claude") / "settings.json"
    found = logins.read(place)
    if not found and place.exists():
        return names  # it may make more of the file than we can
    allow = fields.part(found, "permissions").get("allow")
    rules = [rule for rule in allow if isinstance(rule, str)] if isinstance(allow, list | tuple) else []
    heads = {rule: rule.partition("(")[0].strip() for rule in rules}
    wild = names if any("*" in head for head in heads.values()) else []
    return [*wild, *(rule for rule, head in heads.items() if head in names)]
