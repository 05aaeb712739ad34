"""Service files: what systemd or launchd needs to keep a host running for a project. Nothing is installed here."""

import os
import plistlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

from moot.api import access
from moot.core.records import record

System = Literal["systemd", "launchd"]
SYSTEMS: tuple[System, ...] = get_args(System)
_STOPPING_SECONDS = 30  # agents may finish for ten, and their programs take a while to end
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")

_SYSTEMD = """\
# Write this to ~/.config/systemd/user/{name}.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now {name}
#   loginctl enable-linger             # to have it run while you are not logged in
# Keys that agents need go, one NAME=value a line, into ~/{environment} (chmod 600).{besides}
[Unit]
Description=moot for {folder}

[Service]
WorkingDirectory={folder}
ExecStart={command}
Environment={path}
EnvironmentFile=-%h/{environment}
Restart=on-failure
KillMode=mixed
TimeoutStopSec={seconds}

[Install]
WantedBy=default.target
"""


@record
class Unit:
    """What is to run, and for which project."""

    name: str
    command: tuple[str, ...]
    folder: Path
    path: str  # where programs of agents are found
    store: str | None = None  # with a password, which is written down nowhere here


def wanted(options: Sequence[str], store: str | None) -> Unit:
    """A host for the project around the current folder, with these options of `moot serve`."""
    root = access.find_project().root
    said = store or os.environ.get("MOOT_STORE")
    is_secret = said is not None and _has_password(said)
    chosen = () if said is None or is_secret else ("--store", said)
    return Unit(
        name=f"moot-{_UNFIT.sub('-', root.name).strip('-') or 'root'}",
        command=(*_program(), "serve", *options, *chosen),
        folder=root,
        path=os.environ.get("PATH", os.defpath),
        store="MOOT_STORE" if is_secret else None,
    )


def meant(system: str) -> System:
    """The one of this name, or else this machine's."""
    match system:
        case "systemd" | "launchd":
            return system
        case _:
            return "launchd" if sys.platform == "darwin" else "systemd"


def spelled(unit: Unit, system: System) -> str:
    """The text of the file."""
    return _systemd(unit) if system == "systemd" else _launchd(unit)


def _systemd(unit: Unit) -> str:
    besides = f"\n# {unit.store} has a password and goes there, too." if unit.store else ""
    return _SYSTEMD.format(
        name=unit.name,
        folder=_percent(str(unit.folder)),
        command=" ".join(_quoted(one) for one in unit.command),
        path=_quoted(f"PATH={unit.path}", is_command=False),
        environment=f".config/{unit.name}.env",
        besides=besides,
        seconds=_STOPPING_SECONDS,
    )


def _launchd(unit: Unit) -> str:
    label = f"local.{unit.name}"
    logs = Path.home() / "Library" / "Logs" / f"{unit.name}.log"
    file = f"~/Library/LaunchAgents/{label}.plist"
    told = plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(unit.command),
            "WorkingDirectory": str(unit.folder),
            "EnvironmentVariables": {"PATH": unit.path},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ExitTimeOut": _STOPPING_SECONDS,
            "StandardOutPath": str(logs),
            "StandardErrorPath": str(logs),
        },
        sort_keys=False,
    ).decode()
    besides = f"; {unit.store} has a password and goes there, too" if unit.store else ""
    words = (
        f"<!-- Write this to {file} (chmod 600), then: launchctl bootstrap gui/$(id -u) {file}\n"
        f"     Keys that agents need go into its EnvironmentVariables{besides}. -->\n"
    )
    head, newline, rest = told.partition("\n")  # the declaration comes first in XML
    return f"{head}{newline}{words}{rest}"


def _program() -> tuple[str, ...]:
    """The script that this was called by, or its Python."""
    called = Path(sys.argv[0])
    if called.name in ("moot", "agent-worker") and called.is_file() and os.access(called, os.X_OK):
        return (str(called.parent.resolve() / called.name),)
    return sys.executable, "-m", "moot"


def _has_password(url: str) -> bool:
    try:
        return urlsplit(url).password is not None or "password=" in url
    except ValueError:
        return True


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(text: str, *, is_command: bool = True) -> str:
    """As systemd reads words: `%` begins a specifier, and in commands `$` a variable."""
    safe = _percent(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    safe = safe.replace("$", "$$") if is_command else safe
    return safe if re.fullmatch(r"[\w./:=@%+,$-]+", safe) else f'"{safe}"'
