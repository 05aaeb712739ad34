"""Forward-only migrations: numbered SQL files, the same for both databases but for a few words."""

import re
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "migrations"
_WORDS = (
    (re.compile(r"\bstrict, without rowid\b"), ""),
    (re.compile(r"\bstrict\b"), ""),
    (re.compile(r"\binteger\b"), "bigint"),
    (re.compile(r"\breal\b"), "double precision"),
    (re.compile(r"\bblob\b"), "bytea"),
    (re.compile(r"\b(?!as\b)(\w+) text\b"), r'\1 text collate "C"'),
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step forward, in SQLite's words."""

    version: int
    name: str
    sql: str

    @property
    def postgres(self) -> str:
        """The same step in PostgreSQL's words: wide numbers, text that sorts by code point, no storage hints."""
        text = self.sql
        for pattern, word in _WORDS:
            text = pattern.sub(word, text)
        return text


def migrations() -> list[Migration]:
    """All steps in order."""
    files = sorted(_FOLDER.glob("[0-9]*_*.sql"))
    return [Migration(int(file.stem.split("_")[0]), file.stem, file.read_text(encoding="utf-8")) for file in files]


def newest() -> int:
    """The version this moot reads and writes."""
    return max(int(file.name.split("_")[0]) for file in _FOLDER.glob("[0-9]*_*.sql"))
