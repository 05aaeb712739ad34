"""The documents of an instance as files, in both directions: what changes in the store is written to disk, and what
people change on disk becomes a version by `disk`, under the rules of ownership.

Beside the files lies a note of which version each of them shows. A file that was changed while its document was changed
too, or that `disk` may not write, is moved aside as `NAME.conflict-<version>`: no text is ever lost, here or there.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from moot.core import folder, json
from moot.core.caller import Caller
from moot.core.errors import InvalidInput
from moot.core.folder import Folder, Stamp
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import documents, ownership, paths
from moot.documents.documents import Listing
from moot.documents.errors import DocumentChanged, DocumentExists, ElectionInProgress, NotDocumentOwner
from moot.documents.ownership import Author, Ownership
from moot.store.store import Store
from moot.views import places
from moot.views.keeping import unbroken

DISK = Author("disk")
BASES = ".documents.json"
_MOST_BYTES = 4 * documents.MOST_CHARACTERS
_MOST_BYTES_OF_BASES = 4_000_000
_FRESH = 1_000_000_000  # a file that was changed this short before it was read may change again under the same stamp
_CONFLICTS = 1000
_log = logging.getLogger("moot.views")
Step = Literal["same", "write", "take", "create", "aside", "remove", "leave"]


@record
class Base:
    """The version that a file shows, if nobody has touched it."""

    version: int
    hash: str
    before: str | None = None  # what the file showed until then; noted only while it is being written


@record
class Seen:
    """A file as it was found; without a hash it is nothing that a document can be made of."""

    stamp: Stamp
    hash: str | None


@dataclass(slots=True)
class Memory:
    """What one process knows of the files, so that it reads only those that have changed."""

    seen: dict[str, Seen] = field(default_factory=dict[str, Seen])
    warned: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Look:
    """One comparison of the files of an instance with its documents."""

    store: Store
    instance: InstanceName
    folder: Folder
    channel: str  # a file that is no document
    memory: Memory
    settle: float
    bases: dict[str, Base]
    rules: Ownership


async def synchronise(
    store: Store, above: Path, instance: InstanceName, memory: Memory, *, settle: float = 0.0
) -> bool:
    """Bring files and documents together; False if another process is at it. A file that was changed less than
    `settle` seconds ago is somebody's half-written one, perhaps, and waits for the next time."""
    return await unbroken(_synchronise(store, above, instance, memory, settle))


async def _synchronise(store: Store, above: Path, instance: InstanceName, memory: Memory, settle: float) -> bool:
    live, rules = await store.read(lambda tx: _stored(tx, instance))
    where = await store.read(lambda tx: places.spot(tx, above, instance))
    if where is None:
        return True
    with folder.opened(where.above, where.name, create=bool(live)) as place:
        if place is None:
            return True
        if not place.lock():
            return False
        # Read again under the lock: what another process has done meanwhile is not ours to undo.
        live, rules = await store.read(lambda tx: _stored(tx, instance))
        bases = await asyncio.to_thread(_bases, place)
        look = _Look(store, instance, place, where.channel, memory, settle, dict(bases), rules)
        await _bring_together(look, live)
        if look.bases != bases:
            await asyncio.to_thread(_keep, place, look.bases)
    return True


def decide(there: Listing | None, base: Base | None, seen: Seen | None, past: int | None) -> Step:
    """What to do about one file. `past` is the newest version with the text that the file has."""
    if seen is None:
        return "write" if there else "same"
    if there is None:
        if seen.hash is None:
            return "leave"
        if base is None:
            return "create"
        return "remove" if seen.hash in (base.hash, base.before) else "aside"
    if seen.hash == there.hash:
        return "same"
    if seen.hash is None:
        return "aside"
    if base is not None and seen.hash in (base.hash, base.before):
        return "write"
    if base is not None and base.version == there.version:
        return "take"
    # A view that was written before its version was noted down.
    is_left_over = past is not None and (base is None or past > base.version)
    return "write" if is_left_over else "aside"


async def _bring_together(look: _Look, live: dict[str, Listing]) -> None:
    seen = await asyncio.to_thread(_examine, look)
    known = {paths.fold(file) for file in live}
    unwritten: dict[str, Seen | None] = {}
    # Those that are to be removed first: on some disks their names are those of others.
    for file in sorted({*seen, *look.bases, *live}, key=lambda file: (file in live, file)):
        is_other_spelling = file not in live and file not in look.bases and paths.fold(file) in known
        if is_other_spelling or not _is_ours(file, look.channel):
            continue
        try:
            if await _settle(look, file, live.get(file), seen.get(file)):
                unwritten[file] = look.memory.seen.get(file)
        except OSError as error:
            _warn(look, file, f"cannot be brought up to date: {error.strerror}")
    if unwritten:
        await _write(look, unwritten)


async def _settle(look: _Look, file: str, there: Listing | None, seen: Seen | None) -> bool:
    """Do what is to be done about a file; True if it is to be written then."""
    base = look.bases.get(file)
    past = None
    if there and seen and seen.hash and seen.hash != there.hash:
        hash = seen.hash
        past = await look.store.read(lambda tx: documents.version_with(tx, look.instance, file, hash))
    step = decide(there, base, seen, past)
    if step in ("take", "create", "aside") and seen and _is_unsettled(seen, look.settle):
        return False
    if step in ("take", "create"):
        step = await _take(look, file, there)
    if step == "aside" and seen:
        await _put_aside(look, file, base or there)
        step = "write" if there else "same"
    match step:
        case "remove" if seen:
            if await asyncio.to_thread(look.folder.remove, file, seen.stamp):
                look.bases.pop(file, None)
        case "same" if there:
            look.bases[file] = Base(there.version, there.hash)
        case "same":
            look.bases.pop(file, None)
        case _:
            pass
    return step == "write"


async def _take(look: _Look, file: str, there: Listing | None) -> Step:
    """Make a version of what is on disk; what is to be done instead, if that is refused."""
    if look.rules.election is not None:
        return "leave"
    try:
        content, stamp = await asyncio.to_thread(look.folder.read, file, _MOST_BYTES)
        text = documents.check_text(content.decode())
        look.memory.seen[file] = Seen(stamp, documents.hash_of(text))

        def change(tx: Tx) -> documents.Written:
            if there is None:
                return documents.create(tx, look.instance, file, text, DISK)
            return documents.write(tx, look.instance, file, text, DISK, there.version)

        written = await look.store.write(change, caller=_caller(look.instance))
    except (DocumentChanged, DocumentExists, ElectionInProgress, FileNotFoundError, UnicodeDecodeError):
        return "leave"  # it is something else by now: the next look finds out
    except NotDocumentOwner as error:
        _warn(look, file, f"was changed on disk: {error.fact}")
        return "aside" if there else "leave"
    except InvalidInput as error:
        _warn(look, file, f"is no document: {error.fact}")
        return "leave"
    look.bases[file] = Base(written.version, documents.hash_of(text))
    return "leave"


async def _put_aside(look: _Look, file: str, base: Base | Listing | None) -> None:
    version = base.version if base else 0
    for number in range(1, _CONFLICTS):
        name = paths.conflict(file, version, number)
        if await asyncio.to_thread(look.folder.move, file, name):
            break
    else:
        raise OSError(0, "there are too many conflicts beside it", file)
    look.bases.pop(file, None)
    look.memory.seen.pop(file, None)
    _log.warning("%s in %s was changed here and there; the text from disk is in %s", file, look.instance, name)
    await look.store.write(
        lambda tx: documents.note_conflict(tx, look.instance, file, name), caller=_caller(look.instance)
    )


async def _write(look: _Look, unwritten: dict[str, Seen | None]) -> None:
    """Put documents on disk. What they are going to show is noted first, with what they show now: whoever comes after a
    crash in between can tell a file that was not written yet from one that was written and then edited."""
    texts = {
        file: await look.store.read(lambda tx, file=file: documents.read(tx, look.instance, file)) for file in unwritten
    }
    before = dict(look.bases)
    for file, document in texts.items():
        seen = unwritten[file]
        look.bases[file] = Base(document.version, documents.hash_of(document.content), seen.hash if seen else None)
    await asyncio.to_thread(_keep, look.folder, look.bases)
    for file, document in texts.items():
        if await _is_written(look, file, document.content, unwritten[file]):
            look.bases[file] = replace(look.bases[file], before=None)
        else:
            del look.bases[file]
            if file in before:
                look.bases[file] = before[file]


async def _is_written(look: _Look, file: str, content: str, seen: Seen | None) -> bool:
    try:
        stamp = await asyncio.to_thread(look.folder.write, file, content.encode(), seen.stamp if seen else None)
    except OSError as error:
        _warn(look, file, f"cannot be written: {error.strerror}")
        return False
    if stamp is None:  # somebody was faster, or it is a folder: the next look finds out
        _warn(look, file, "could not be written: something else is there")
    return stamp is not None


def _stored(tx: ReadTx, instance: InstanceName) -> tuple[dict[str, Listing], Ownership]:
    return {one.file: one for one in documents.all_of(tx, instance)}, ownership.ownership(tx, instance)


def _examine(look: _Look) -> dict[str, Seen]:
    """Every file, read if it is new or has changed since it was read."""
    found: dict[str, Seen] = {}
    for file, stamp in look.folder.files().items():
        before = look.memory.seen.get(file)
        if before is not None and before.stamp == stamp and abs(time.time_ns() - stamp.modified) > _FRESH:
            found[file] = before
        elif _is_ours(file, look.channel):
            found[file] = _read(look.folder, file, stamp)
    look.memory.seen = found
    return dict(found)


def _read(place: Folder, file: str, stamp: Stamp) -> Seen:
    try:
        content, stamp = place.read(file, _MOST_BYTES)
        return Seen(stamp, documents.hash_of(documents.check_text(content.decode())))
    except (OSError, UnicodeDecodeError, InvalidInput):
        return Seen(stamp, None)


def _is_ours(file: str, channel: str) -> bool:
    """Whether a file of that name can be a document's."""
    try:
        return paths.check(file) == file and paths.fold(file) != paths.fold(channel)
    except InvalidInput:
        return False


def _is_unsettled(seen: Seen, settle: float) -> bool:
    return abs(time.time_ns() - seen.stamp.modified) < settle * 1_000_000_000


def _bases(place: Folder) -> dict[str, Base]:
    """What was noted beside the files; nothing, if there is no note or somebody has spoiled it."""
    try:
        content, _ = place.read(BASES, _MOST_BYTES_OF_BASES)
        noted = json.load_object(content)
    except (OSError, InvalidInput):
        return {}
    found: dict[str, Base] = {}
    for file, value in noted.items():
        match value:
            case [int(version), str(hash), *rest]:
                found[file] = Base(version, hash, *[before for before in rest[:1] if isinstance(before, str)])
            case _:
                pass
    return found


def _keep(place: Folder, bases: dict[str, Base]) -> None:
    content = json.pretty({file: _noted(base) for file, base in sorted(bases.items())})
    for _ in range(2):
        try:
            _, over = place.read(BASES, _MOST_BYTES_OF_BASES)
        except FileNotFoundError:
            over = None
        except OSError:
            place.move(BASES, f"{BASES}.{time.time_ns()}")
            over = None
        if place.write(BASES, content.encode(), over) is not None:
            return


def _noted(base: Base) -> list[str | int]:
    return [base.version, base.hash] if base.before is None else [base.version, base.hash, base.before]


def _warn(look: _Look, file: str, what: str) -> None:
    """Once for each file and reason: looks come every few seconds."""
    text = f"{file} in {look.instance} {what}"
    if text not in look.memory.warned:
        look.memory.warned.add(text)
        _log.warning("%s", text)


def _caller(instance: InstanceName) -> Caller:
    return Caller("disk", "system", instance)
