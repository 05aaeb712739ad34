"""Documents: texts in the files and folders of an instance, kept with every version, carried on over its runs.

A version's number counts from 1 and goes on behind a deletion, so that a number never means two texts.
"""

import hashlib
from datetime import datetime
from typing import Literal

from moot.core import text
from moot.core.events import Event
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import ownership, paths, places
from moot.documents.errors import DocumentChanged, DocumentExists, DocumentNotFound, DocumentTooLarge, PathRefused
from moot.documents.ownership import ENTRY, SYSTEM, Author
from moot.store import queries

sql = queries.beside(__file__)
Action = Literal["created", "written", "appended", "deleted"]
CHANGED = "document_changed"
CONFLICT = "document_conflict"
MOST_CHARACTERS = text.MAX_TEXT
_END = 2**62  # behind every version
MOST_DOCUMENTS = 1000  # in an instance: each of them is also a file


@record
class Listing:
    """A document as it is listed."""

    file: str
    version: int
    hash: str
    size: int  # in characters
    author: str  # of this version
    at: datetime


@record
class Document:
    """A version of a document with its text; version 0 is an entry point that nobody has written."""

    file: str
    version: int
    content: str
    author: str
    at: datetime | None


@record
class Version:
    """One line of a document's history."""

    version: int
    action: Action
    hash: str | None
    size: int
    author: str
    at: datetime


@record
class Written:
    """What a change has made of a document."""

    file: str
    version: int
    action: Action
    is_new: bool  # False: the text was there already, and no version was made


@record
class _Row:
    file: str
    version: int
    hash: str | None


def entry_point(tx: ReadTx, instance: InstanceName) -> str:
    return tx.maybe(sql.entry, str, instance=instance) or ENTRY


def configure(tx: Tx, instance: InstanceName, entry: str, others: tuple[str, ...] = ()) -> None:
    """Say which document is read first and which there are beside it; those that are missing are made, empty."""
    named = [paths.check(file) for file in (entry, *others)]
    ownership.hold(tx, instance)
    tx.run(sql.set_entry, instance=instance, entry=named[0])
    for file in named:
        if find(tx, instance, file) is None:
            _change(tx, instance, file, "", _Change("created", SYSTEM, 0))


def read(tx: ReadTx, instance: InstanceName, file: str | None = None, version: int | None = None) -> Document:
    """The current version or an old one, of the entry point unless a file is named."""
    entry = entry_point(tx, instance)
    path = paths.check(file) if file is not None else entry
    found = tx.maybe(sql.read, Document, instance=instance, folded=paths.fold(path), version=version)
    if found is not None:
        return found
    if version is not None:
        raise DocumentNotFound(
            f"There is no version {version} of {path}.", "See document_history, or moot doc history."
        )
    if paths.fold(path) == paths.fold(entry):
        return Document(entry, 0, "", "", None)
    raise _missing(path)


def write(
    tx: Tx, instance: InstanceName, file: str | None, content: str, author: Author, if_version: int | None = None
) -> Written:
    """Replace the text; a document that is not there is made. With `if_version` only if that is the current version
    (0: if there is none)."""
    return _put(tx, instance, file, content, _Change("written", author, if_version))


def append(
    tx: Tx, instance: InstanceName, file: str | None, content: str, author: Author, if_version: int | None = None
) -> Written:
    """Put the text behind what is there."""
    return _put(tx, instance, file, content, _Change("appended", author, if_version))


def create(tx: Tx, instance: InstanceName, file: str, content: str, author: Author) -> Written:
    """Make a document; DocumentExists if it is there."""
    return _put(tx, instance, file, content, _Change("created", author))


def delete(tx: Tx, instance: InstanceName, file: str, author: Author, if_version: int | None = None) -> Written:
    """Its versions stay readable, and its next version, if there ever is one, goes on counting."""
    path = paths.check(file)
    ownership.check(ownership.hold(tx, instance), author)
    row = _row(tx, instance, path)
    if row is None or row.hash is None:
        raise _missing(path)
    _check_version(row, if_version)
    return _record(tx, instance, _Row(row.file, row.version + 1, None), 0, _Change("deleted", author))


def all_of(tx: ReadTx, instance: InstanceName) -> list[Listing]:
    """Every document that is there, by path."""
    return tx.all(sql.all_of, Listing, instance=instance)


def find(tx: ReadTx, instance: InstanceName, file: str) -> Listing | None:
    return tx.maybe(sql.find, Listing, instance=instance, folded=paths.fold(file))


def history(
    tx: ReadTx, instance: InstanceName, file: str | None, limit: int, before: int | None = None
) -> list[Version]:
    """The last versions, or the last before a number, oldest first, deletions included."""
    path = paths.check(file) if file is not None else entry_point(tx, instance)
    end = _END if before is None else before
    found = tx.all(sql.history, Version, instance=instance, folded=paths.fold(path), end=end, limit=limit)
    if not found and file is not None and before is None:
        raise _missing(path)
    return list(reversed(found))


def version_with(tx: ReadTx, instance: InstanceName, file: str, hash: str) -> int | None:
    """The newest version that had this text."""
    return tx.maybe(sql.version_with, int, instance=instance, folded=paths.fold(file), hash=hash)


def heads(tx: ReadTx) -> dict[InstanceName, int]:
    """For every instance that ever had documents, a number that grows with each change."""
    return {InstanceName(head.instance): head.changes for head in tx.all(sql.heads, _Head)}


@record
class _Head:
    instance: str
    changes: int


def note_conflict(tx: Tx, instance: InstanceName, file: str, kept: str) -> None:
    """A text from disk could not become a version and was put beside its document."""
    tx.announce(Event(ownership.stream_of(tx, instance), CONFLICT, file, {"kept": kept}, is_quiet=True))


def hash_of(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def check_text(content: str) -> str:
    """The same text, if it can be a document's."""
    if len(content) > MOST_CHARACTERS:
        raise DocumentTooLarge(
            f"The document would have {len(content):,} characters; at most {MOST_CHARACTERS:,} are kept.",
            "Split it into several.",
        )
    return text.clean(content, "document")


@record
class _Change:
    action: Action
    author: Author
    if_version: int | None = None


def _put(tx: Tx, instance: InstanceName, file: str | None, content: str, change: _Change) -> Written:
    path = paths.check(file) if file is not None else None
    check_text(content)
    ownership.check(ownership.hold(tx, instance), change.author)
    return _change(tx, instance, path or entry_point(tx, instance), content, change)


def _change(tx: Tx, instance: InstanceName, path: str, content: str, change: _Change) -> Written:
    """Under the lock of the instance's rules."""
    row = _row(tx, instance, path)
    is_there = row is not None and row.hash is not None
    if change.action == "created" and is_there:
        raise DocumentExists(f"There is a document {path} already.", "Use document_write, or choose another name.")
    _check_version(row if is_there else None, change.if_version)
    if not is_there:
        _check_place(tx, instance, path)
    if change.action == "appended" and row is not None and row.hash is not None:
        content = check_text(tx.one(sql.blob, str, hash=row.hash) + content)
    hash = hash_of(content)
    if row is not None and row.hash == hash:
        return Written(row.file, row.version, change.action, is_new=False)
    tx.run(sql.add_blob, hash=hash, content=content)
    new = _Row(row.file if row and is_there else path, row.version + 1 if row else 1, hash)
    return _record(tx, instance, new, len(content), change)


def _record(tx: Tx, instance: InstanceName, new: _Row, size: int, change: _Change) -> Written:
    author = change.author
    folded = paths.fold(new.file)
    tx.run(
        sql.put, instance=instance, folded=folded, file=new.file, version=new.version, hash=new.hash, size=size,
        author=author.name, now=tx.now,
    )  # fmt: skip
    tx.run(
        sql.add_version, instance=instance, folded=folded, version=new.version, action=change.action, hash=new.hash,
        size=size, author=author.name, agent=author.agent, attempt=author.attempt, now=tx.now,
    )  # fmt: skip
    told = {"action": change.action, "version": new.version, "by": author.name}
    tx.announce(Event(ownership.stream_of(tx, instance), CHANGED, new.file, told, is_quiet=True))
    return Written(new.file, new.version, change.action, is_new=True)


def _row(tx: ReadTx, instance: InstanceName, path: str) -> _Row | None:
    return tx.maybe(sql.row, _Row, instance=instance, folded=paths.fold(path))


def _check_version(row: _Row | None, if_version: int | None) -> None:
    current = row.version if row else 0
    if if_version is not None and if_version != current:
        fact = f"{row.file} is at version {current}" if row else "There is no such document"
        raise DocumentChanged(
            f"{fact}, not at version {if_version}; nothing was written.",
            "Read it again, then write with its version.",
            version=current,
        )


def _check_place(tx: ReadTx, instance: InstanceName, path: str) -> None:
    """A name cannot be a file and a folder, and there is an end to their number."""
    if places.place(tx, instance).is_taken(path):
        raise PathRefused(f"{path} is the channel's file.", "Choose another name.")
    live = [paths.fold(one.file) for one in all_of(tx, instance)]
    folded = paths.fold(path)
    for other in live:
        if other.startswith(f"{folded}/") or folded.startswith(f"{other}/"):
            raise PathRefused(f"{path} cannot be made: {other} is there.", "Choose another name.")
    if len(live) >= MOST_DOCUMENTS:
        raise DocumentTooLarge(f"There are {len(live)} documents here, as many as are kept.", "Delete some first.")


def _missing(path: str) -> DocumentNotFound:
    return DocumentNotFound(f"There is no document {path}.", "See document_list, or moot doc.")


def forget(tx: Tx, instance: InstanceName) -> None:
    """The documents of an instance are gone for good, with every version."""
    for statement in (sql.forget_blobs, sql.forget_versions, sql.forget, sql.forget_rules):
        tx.run(statement, instance=instance)
