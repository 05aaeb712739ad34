"""The machine around moot: Python, SQLite, optional parts."""

import platform
from collections.abc import Iterator
from importlib.util import find_spec

import apsw

from moot import __version__
from moot.api import check
from moot.api.check import Check
from moot.store.sqlite import place

# What each extra brings, by a module that only it needs.
EXTRAS = {"postgres": "psycopg", "llm": "pydantic_ai"}


def checks() -> Iterator[Check]:
    yield check.ok("moot", f"{__version__} on Python {platform.python_version()}")
    yield check.guarded("sqlite", _sqlite)
    yield check.ok("extras", ", ".join(f"{name} {_presence(find_spec(module))}" for name, module in EXTRAS.items()))


def _sqlite() -> Check:
    version = apsw.sqlite_lib_version()
    place.check_sqlite(version)
    return check.ok("sqlite", version)


def _presence(found: object) -> str:
    return "installed" if found else "not installed"
