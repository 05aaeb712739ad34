"""Loads named SQL statements from the `.sql` file beside a module.

A statement starts with `-- name: one sentence of intent`. `x.postgres.sql` overrides, by name, what differs there.
Parameters are written `:name` in both files.
"""

import re
import sys
from pathlib import Path

from moot.core.tx import Query

_HEADING = re.compile(r"^-- (\w+): .+$", re.MULTILINE)
_PARAMETER = re.compile(r"--[^\n]*|'[^']*'|(?<!:):([a-z_][a-z0-9_]*)")


class Statements:
    """The statements of one file, as attributes."""

    def __init__(self, statements: dict[str, Query], file: Path) -> None:
        self._statements = statements
        self._file = file
        self.__dict__.update(statements)  # found at once; only what is missing comes to __getattr__

    def __getattr__(self, name: str) -> Query:
        try:
            return self._statements[name]
        except KeyError:
            raise AttributeError(f"{self._file} has no statement named {name}") from None


def beside(module_file: str) -> Statements:
    """The statements of `x.sql`, for the module `x.py`."""
    file = Path(module_file).with_suffix(".sql")
    portable = parse(file.read_text(encoding="utf-8"))
    override_file = file.with_suffix(".postgres.sql")
    overrides = parse(override_file.read_text(encoding="utf-8")) if override_file.exists() else {}
    if unknown := overrides.keys() - portable.keys():
        raise ValueError(f"{override_file} overrides statements that do not exist: {sorted(unknown)}")
    return Statements(
        {name: Query(name, sql, for_psycopg(overrides.get(name, sql))) for name, sql in portable.items()},
        file,
    )


def parse(text: str) -> dict[str, str]:
    """Name to statement, in the order of the file."""
    headings = list(_HEADING.finditer(text))
    names = [heading[1] for heading in headings]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"statements are named twice: {sorted(twice)}")
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {
        heading[1]: text[heading.end() : end].strip().rstrip(";") for heading, end in zip(headings, ends, strict=True)
    }


def parameters(sql: str) -> tuple[str, ...]:
    """The names in the order in which SQLite counts them: each once, where it comes first. They are the very strings
    that callers name their values by, which are found in half the time of equal ones."""
    return tuple(dict.fromkeys(sys.intern(found[1]) for found in _PARAMETER.finditer(sql) if found[1]))


def for_psycopg(sql: str) -> str:
    """`:name` as psycopg writes it, but not in comments and literals; a percent sign doubled everywhere."""
    return _PARAMETER.sub(lambda found: f"%({found[1]})s" if found[1] else found[0], sql.replace("%", "%%"))
