"""The home that Gemini CLI gets for one attempt: links to what is in the user's, and a copy of the settings with our
server in them.

It must be told to trust the workspace, else it takes no server. What a repository says must not count for that: its
settings (hooks, servers, rules) and its files of variables, which name addresses, headers and programs. Only an agent
that may do everything takes those. At another address nothing of the user's variables counts, either.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from moot.backends.backend import Assignment
from moot.backends.programs import fields, known, logins, surroundings
from moot.core import json
from moot.core.json import Json
from moot.core.permissions import PRESETS

SERVER = "moot"
VARIABLE = "GEMINI_CLI_HOME"
_FOLDER = ".gemini"
_VARIABLES = ".env"
_CONVERSATIONS = ("tmp", "history")  # it would leave the mail there
_TRUST = "trustedFolders.json"
# Whatever dotenv could take for a name. JavaScript counts one character more as white space.
_NAME = re.compile(r"([A-Za-z0-9_.-]+)(?:[\s\ufeff]*=|:)")


def make(assignment: Assignment, env: Mapping[str, str]) -> dict[str, str]:
    """The variables by which it is found. Nothing of the user's is written."""
    home = assignment.folder / "gemini"
    own = home / _FOLDER
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    users = Path(env.get(VARIABLE) or env.get("HOME") or "/nonexistent") / _FOLDER
    if users.is_dir():
        kept = {"settings.json", *_CONVERSATIONS, *_closed(assignment)}
        for entry in users.iterdir():
            if entry.name not in kept and not (own / entry.name).is_symlink():
                (own / entry.name).symlink_to(entry)
    settings = _settings(logins.read(users / "settings.json"), assignment, env)
    surroundings.write(own, "settings.json", json.pretty(settings))
    return {**_emptied(assignment, users / _VARIABLES, env), VARIABLE: str(home)}


def _is_restricted(assignment: Assignment) -> bool:
    return assignment.manner.permissions != PRESETS["full"]


def _is_elsewhere(assignment: Assignment) -> bool:
    return assignment.manner.base_url is not None


def _closed(assignment: Assignment) -> Iterator[str]:
    """What of the user's does not count."""
    if _is_restricted(assignment):
        yield _TRUST  # the settings of a repository in a folder that is in there outrank ours
    if _is_elsewhere(assignment):
        yield _VARIABLES


def _emptied(assignment: Assignment, users: Path, env: Mapping[str, str]) -> dict[str, str]:
    """It can be told to leave `.env` alone, but not `.gemini/.env`, in the workspace or above. It sets no variable that
    is set, so those that such a file names are: to nothing."""
    workspace = assignment.workspace.resolve()
    found = [folder / _FOLDER / _VARIABLES for folder in (workspace, *workspace.parents)]
    theirs = [place for place in found if place.resolve() != users.resolve()] if _is_restricted(assignment) else []
    closed = [*found, users] if _is_elsewhere(assignment) else theirs
    names = {name for place in closed if place.is_file() for name in _NAME.findall(_text(place))}
    return {name: "" for name in sorted(names) if name not in env}


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8", errors="replace")
    except OSError:  # nor can it be read by the program
        return ""


def _settings(users: dict[str, Json], assignment: Assignment, env: Mapping[str, str]) -> dict[str, Json]:
    server: dict[str, Json] = {
        "httpUrl": assignment.access.url,
        "headers": {"Authorization": f"Bearer ${surroundings.TOKEN}"},
        "timeout": 660_000,
        "trust": True,
    }
    most = surroundings.most_turns(assignment)
    ours: dict[str, dict[str, Json]] = {
        "general": {"enableAutoUpdate": False, "maxAttempts": 3, "retryFetchErrors": False},
        "model": {} if most is None else {"maxSessionTurns": most},
        "security": {},
        "privacy": {"usageStatisticsEnabled": False},
        "advanced": {},
    }
    has_key = any(env.get(key) for key in known.GEMINI.all_keys)
    if _is_elsewhere(assignment) or (has_key and not fields.part(fields.part(users, "security"), "auth")):
        ours["security"]["auth"] = {"selectedType": "gemini-api-key"}
    if _is_restricted(assignment):
        ours["security"]["folderTrust"] = {"enabled": True}  # without, it trusts every folder from the beginning
    if _is_restricted(assignment) or _is_elsewhere(assignment):
        ours["advanced"]["ignoreLocalEnv"] = True
    merged: dict[str, Json] = {name: {**fields.part(users, name), **part} for name, part in ours.items()}
    return {**users, "mcpServers": {SERVER: server}, **merged}
