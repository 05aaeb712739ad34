"""Documents: what there is, what is in it, what it was before, and changing it."""

import difflib
from collections.abc import Iterator, Sequence

from moot.api import documents as shelf
from moot.api.page import desk
from moot.api.page.desk import Desk, Plain
from moot.core.tx import ReadTx
from moot.documents import documents, ownership
from moot.documents.errors import DocumentChanged, DocumentNotFound
from moot.registry.instances import Instance
from moot.web import resource
from moot.web.ask import Ask
from moot.web.clash import Clash
from moot.web.resource import Resource

_LAST = 50
_MOST = 200
_AROUND = 3  # lines that did not change, beside those that did
_LONGEST = 20_000  # lines of two versions that are compared


def resources(at: Desk) -> list[Resource]:
    async def one(ask: Ask) -> Plain:
        file, version = ask.text("file"), ask.number("version", least=1)
        return shelf.plain_document(await shelf.read(at.seat(ask), file, version))

    async def history(ask: Ask) -> Plain:
        file, limit, before = ask.needed("file"), ask.limit(_LAST, _MOST), ask.number("before", least=1)
        return await at.look(ask, lambda tx, instance: _history(tx, instance, file, limit, before))

    async def diff(ask: Ask) -> Plain:
        file = ask.needed("file")
        old, new = ask.needed_number("from"), ask.needed_number("to")
        texts = await at.store.read(lambda tx: [_text(tx, ask, file, version) for version in (old, new)])
        return {"file": file, "from": old, "to": new, **compared(*texts)}

    async def write(ask: Ask) -> Plain:
        file, content = ask.needed("file"), ask.needed("content", most=documents.MOST_CHARACTERS)
        base = ask.needed_number("base")
        seat = at.seat(ask)
        try:
            written = await shelf.write(seat, file, content, base)
        except DocumentChanged as error:
            raise Clash(error, await at.store.read(lambda tx: _both(tx, ask, file, base))) from error
        return shelf.plain_written(written)

    return [
        resource.get("/api/documents", at.answer(_listed)),
        resource.get("/api/document", one, "file", "version"),
        resource.get("/api/document/history", history, "file", "limit", "before"),
        resource.get("/api/document/diff", diff, "file", "from", "to"),
        resource.post("/api/document", write, "file", "content", "base"),
    ]


def _listed(tx: ReadTx, instance: Instance | None) -> Plain:
    if instance is None:
        return {"entry_point": documents.ENTRY, "owner": None, "documents": []}
    entry = documents.entry_point(tx, instance.name)
    return {
        "entry_point": entry,
        "owner": ownership.ownership(tx, instance.name).owner,
        "documents": [shelf.plain_listing(one, entry) for one in documents.all_of(tx, instance.name)],
    }


def _history(tx: ReadTx, instance: Instance | None, file: str, limit: int, before: int | None) -> Plain:
    """Newest first."""
    found = documents.history(tx, desk.there(instance).name, file, limit + 1, before)
    newest = [shelf.plain_version(one) for one in reversed(found)]
    return {"file": file, "versions": newest[:limit], "has_older": len(found) > limit}


def _text(tx: ReadTx, ask: Ask, file: str, version: int) -> str:
    """Nothing stood in version 0, or in one that deleted it."""
    if version == 0:
        return ""
    try:
        return documents.read(tx, ask.instance, file, version).content
    except DocumentNotFound:
        known = documents.history(tx, ask.instance, file, 1, version + 1)
        if known and known[0].version == version:
            return ""
        raise


def _both(tx: ReadTx, ask: Ask, file: str, base: int) -> Plain:
    """As it is now, and as it was when the change was begun."""
    found = documents.find(tx, ask.instance, file)
    current = None if found is None else shelf.plain_document(documents.read(tx, ask.instance, file))
    try:
        before: Plain | None = {"file": file, "version": base, "content": _text(tx, ask, file, base)}
    except DocumentNotFound:
        before = None
    return {"current": current, "base": before}


def compared(old: str, new: str) -> Plain:
    """Line by line, what did not change left out but for a little around. Very long ones are not compared."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _LONGEST:
        return {"lines": [], "is_too_long": True}
    return {"lines": [*_lines(before, after)], "is_too_long": False}


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Plain]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    shown = 0
    for group in matcher.get_grouped_opcodes(_AROUND):
        first = group[0][1]
        if first > shown:
            yield {"kind": "skipped", "text": "", "old": None, "new": None, "count": first - shown}
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                for offset, line in enumerate(before[old_from:old_to]):
                    yield _line("same", line, old_from + offset, new_from + offset)
                continue
            yield from (_line("removed", before[place], place, None) for place in range(old_from, old_to))
            yield from (_line("added", after[place], None, place) for place in range(new_from, new_to))
        shown = group[-1][2]
    if shown < len(before):
        yield {"kind": "skipped", "text": "", "old": None, "new": None, "count": len(before) - shown}


def _line(kind: str, text: str, old: int | None, new: int | None) -> Plain:
    """Lines count from 1."""
    return {
        "kind": kind,
        "text": text,
        "old": None if old is None else old + 1,
        "new": None if new is None else new + 1,
    }
