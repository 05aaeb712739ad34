"""The machine around moot: Python, SQLite, optional parts, and whether it confines commands."""

import platform
from collections.abc import Iterator
from importlib.util import find_spec

import apsw

from moot.api import check
from moot.api.check import Check
from moot.core.version import VERSION
from moot.process import confinement
from moot.store.sqlite import place

# What each extra brings, by a module that only it needs.
EXTRAS = {"postgres": "psycopg", "llm": "pydantic_ai"}


def checks() -> Iterator[Check]:
    yield check.ok("moot", f"{VERSION} on Python {platform.python_version()}")
    yield check.guarded("sqlite", _sqlite)
    yield check.ok("extras", ", ".join(f"{name} {_presence(find_spec(module))}" for name, module in EXTRAS.items()))
    yield _shell()


def _sqlite() -> Check:
    version = apsw.sqlite_lib_version()
    place.check_sqlite(version)
    return check.ok("sqlite", version)


def _shell() -> Check:
    """The commands of agents that are models."""
    if confinement.is_waived():
        setting = confinement.SETTING
        return check.absent("shell", f"Commands of agents are not confined: {setting} says so.", f"Unset {setting}.")
    match confinement.reach():
        case "confined":
            return check.ok("shell", "commands of agents are confined to their directory; moot's files in it are kept")
        case "confined but for moot's own files":
            return check.ok(
                "shell", "commands of agents are confined to their directory, but can change moot's files in it"
            )
        case "unconfined":
            return check.absent(
                "shell",
                "Commands of agents cannot be confined here: that takes Linux 6.2 or later, with Landlock.",
                f"Write permissions: {{shell: ask}}, or set {confinement.SETTING}=unconfined.",
            )


def _presence(found: object) -> str:
    return "installed" if found else "not installed"
