"""Forward-only migrations: numbered SQL files, the same for both databases but for a few words.

Where one file cannot serve both, `x.postgres.sql` is PostgreSQL's.
"""

import re
from pathlib import Path

from moot.core.records import record

_FOLDER = Path(__file__).parent / "migrations"
_WORDS = (
    (re.compile(r"\bstrict, without rowid\b"), ""),
    (re.compile(r"\bstrict\b"), ""),
    (re.compile(r"\binteger\b"), "bigint"),
    (re.compile(r"\breal\b"), "double precision"),
    (re.compile(r"\bblob\b"), "bytea"),
    (re.compile(r"\b(?!as\b)(\w+) text\b"), r'\1 text collate "C"'),
)


@record
class Migration:
    """One step forward, in SQLite's words."""

    version: int
    name: str
    sql: str
    own_postgres: str | None = None

    @property
    def postgres(self) -> str:
        """The same step in PostgreSQL's words: wide numbers, text that sorts by code point, no storage hints."""
        if self.own_postgres is not None:
            return self.own_postgres
        text = self.sql
        for pattern, word in _WORDS:
            text = pattern.sub(word, text)
        return text


def migrations() -> list[Migration]:
    """All steps in order."""
    return [_read(file) for file in _files()]


def newest() -> int:
    """The version this moot reads and writes."""
    return _number(_files()[-1])


def _read(file: Path) -> Migration:
    own = file.with_suffix(".postgres.sql")
    theirs = own.read_text(encoding="utf-8") if own.exists() else None
    return Migration(_number(file), file.stem, file.read_text(encoding="utf-8"), theirs)


def _files() -> list[Path]:
    return sorted(file for file in _FOLDER.glob("[0-9]*_*.sql") if not file.name.endswith(".postgres.sql"))


def _number(file: Path) -> int:
    return int(file.name.split("_")[0])
