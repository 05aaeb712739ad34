"""The documents of the caller's instance, in the store and as files."""

import asyncio

from moot.api import rights
from moot.api.access import Access
from moot.core import clock
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import documents, ownership, paths
from moot.documents.documents import Document, Listing, Version, Written
from moot.registry import instances
from moot.tools.authors import author_of
from moot.views.keeper import DocumentKeeper

_TRIES = 20
_PAUSE = 0.05
Plain = dict[str, Json]


@record
class Shelf:
    """All documents, and the rules they are written under."""

    entry_point: str
    owner: str | None
    documents: list[Listing]


async def refresh(access: Access) -> None:
    """Take in what was changed on disk, and write what is missing there."""
    keeper = DocumentKeeper(access.store, access.project.folder)
    for _ in range(_TRIES):
        if await keeper.look(access.caller.instance):
            return
        await asyncio.sleep(_PAUSE)  # a host is at it, and does the same


async def shelf(access: Access) -> Shelf:
    instance = access.caller.instance

    def look(tx: ReadTx) -> Shelf:
        owner = ownership.ownership(tx, instance).owner
        return Shelf(documents.entry_point(tx, instance), owner, documents.all_of(tx, instance))

    return await access.store.read(look)


async def read(access: Access, file: str | None, version: int | None = None) -> Document:
    return await access.store.read(lambda tx: documents.read(tx, access.caller.instance, file, version))


async def history(access: Access, file: str | None, limit: int) -> list[Version]:
    return await access.store.read(lambda tx: documents.history(tx, access.caller.instance, file, limit))


async def write(access: Access, file: str | None, content: str, if_version: int | None = None) -> Written:
    def change(tx: Tx) -> Written:
        rights.check_writer(tx, access.caller)
        instance = instances.ensure(tx, access.caller.instance).name
        return documents.write(tx, instance, file, content, author_of(tx, access.caller), if_version)

    return await access.store.write(change, caller=access.caller)


async def append(access: Access, file: str | None, content: str, if_version: int | None = None) -> Written:
    def change(tx: Tx) -> Written:
        rights.check_writer(tx, access.caller)
        instance = instances.ensure(tx, access.caller.instance).name
        return documents.append(tx, instance, file, content, author_of(tx, access.caller), if_version)

    return await access.store.write(change, caller=access.caller)


async def delete(access: Access, file: str) -> Written:
    def change(tx: Tx) -> Written:
        rights.check_writer(tx, access.caller)
        instance = instances.ensure(tx, access.caller.instance).name
        return documents.delete(tx, instance, file, author_of(tx, access.caller))

    return await access.store.write(change, caller=access.caller)


def plain_listing(one: Listing, entry_point: str) -> Plain:
    return {
        "file": one.file,
        "version": one.version,
        "size": one.size,
        "author": one.author,
        "timestamp": clock.to_iso(one.at),
        "entry_point": paths.fold(one.file) == paths.fold(entry_point),
    }


def plain_document(one: Document) -> Plain:
    at = clock.to_iso(one.at) if one.at else None
    return {"file": one.file, "version": one.version, "content": one.content, "author": one.author, "timestamp": at}


def plain_version(one: Version) -> Plain:
    return {
        "version": one.version,
        "action": one.action,
        "size": one.size,
        "author": one.author,
        "timestamp": clock.to_iso(one.at),
    }


def plain_written(one: Written) -> Plain:
    return {"file": one.file, "version": one.version, "action": one.action, "changed": one.is_new}
