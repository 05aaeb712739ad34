"""Searching: the messages and documents of an instance by their words, the newest first.

Of a very long text only the beginning is searched. On SQLite the index is behind until somebody catches up with what
was said and written since the last search: sending pays nothing for it. `sqlite.indexing` does that, in chunks.
"""

import re
from datetime import datetime
from typing import Literal

from moot.core.ids import InstanceName, MessageId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.search.wanted import Wanted
from moot.store import queries

sql = queries.beside(__file__)
Where = Literal["everything", "messages", "documents"]
_BEFORE, _BEHIND = 60, 140  # characters of a snippet around the place where it was found
_SPACES = re.compile(r"\s+")


@record
class Place:
    """Where to look."""

    instance: InstanceName
    stream: StreamId


@record
class FoundMessage:
    id: MessageId
    seq: int
    sender: str
    kind: str
    at: datetime
    snippet: str


@record
class FoundDocument:
    file: str
    version: int
    author: str  # of this version
    at: datetime
    snippet: str


Found = FoundMessage | FoundDocument


@record
class _Said:
    id: MessageId
    seq: int
    sender: str
    kind: str
    at: datetime
    text: str


@record
class _Written:
    file: str
    version: int
    author: str
    at: datetime
    text: str


def is_behind(tx: ReadTx, place: Place) -> bool:
    """Whether something is not in the index yet."""
    return tx.maybe(sql.is_behind, int, stream=place.stream, instance=place.instance) is not None


def find(tx: ReadTx, place: Place, wanted: Wanted, where: Where, limit: int) -> list[Found]:
    found: list[Found] = []
    if where != "documents":
        found += messages(tx, place.stream, wanted, limit)
    if where != "messages":
        found += documents(tx, place.instance, wanted, limit)
    return sorted(found, key=lambda one: one.at, reverse=True)[:limit]


def messages(tx: ReadTx, stream: StreamId, wanted: Wanted, limit: int) -> list[FoundMessage]:
    rows = tx.all(sql.messages, _Said, stream=stream, fts5=wanted.fts5, tsquery=wanted.tsquery, limit=limit)
    pattern = wanted.pattern
    return [FoundMessage(one.id, one.seq, one.sender, one.kind, one.at, snippet(one.text, pattern)) for one in rows]


def documents(tx: ReadTx, instance: InstanceName, wanted: Wanted, limit: int) -> list[FoundDocument]:
    """As they are; what they were is not searched."""
    rows = tx.all(sql.documents, _Written, instance=instance, fts5=wanted.fts5, tsquery=wanted.tsquery, limit=limit)
    pattern = wanted.pattern
    return [FoundDocument(one.file, one.version, one.author, one.at, snippet(one.text, pattern)) for one in rows]


def snippet(text: str, pattern: re.Pattern[str]) -> str:
    """What stands around the first wanted words, on one line."""
    place = pattern.search(text)
    at = place.start() if place else 0
    start, end = max(at - _BEFORE, 0), at + _BEHIND
    shown = _SPACES.sub(" ", text[start:end]).strip()
    return ("…" if start else "") + shown + ("…" if end < len(text) else "")


def forget(tx: Tx, place: Place) -> None:
    """What is gone is not found any more."""
    for statement in (sql.forget_message_words, sql.forget_message_mark):
        tx.run(statement, stream=place.stream)
    for statement in (sql.forget_document_words, sql.forget_document_marks):
        tx.run(statement, instance=place.instance)
