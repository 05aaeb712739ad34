"""The conversation: a window of it, one message with its receipts, a thread, and what has certain words."""

from datetime import datetime
from typing import get_args

from moot.api import plain, search
from moot.api.page import desk
from moot.api.page.desk import Desk, Plain
from moot.bus import mailbox, messages, windows
from moot.bus.messages import Message
from moot.bus.windows import Sieve
from moot.core.errors import InvalidInput
from moot.core.ids import MessageId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents
from moot.registry.instances import Instance
from moot.search.search import Where
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource

_LAST = 50
_MOST = 200


@record
class Window:
    """Which part is wanted: before a number, behind one, from a time on, or the end."""

    sieve: Sieve
    limit: int
    before: int | None = None
    after: int | None = None
    at: datetime | None = None


def resources(at: Desk) -> list[Resource]:
    async def window(ask: Ask) -> Plain:
        wanted = _window(ask)
        return await at.look(ask, lambda tx, instance: _seen(tx, instance, wanted))

    async def one(ask: Ask) -> Plain:
        id = MessageId(ask.place["id"])
        return await at.look(ask, lambda tx, instance: _one(tx, instance, id))

    async def thread(ask: Ask) -> Plain:
        id, limit = MessageId(ask.place["id"]), ask.limit(_MOST, _MOST)
        return await at.look(ask, lambda tx, instance: _thread(tx, instance, id, limit))

    async def find(ask: Ask) -> Plain:
        where = ask.choice("where", get_args(Where)) or "everything"
        found = await search.search(at.seat(ask), ask.needed("words"), where=where, limit=ask.limit(_LAST, _MOST))
        return {"found": [search.plain(each) for each in found]}

    return [
        resource.get("/api/messages", window, "before", "after", "at", "limit", "kinds", "from"),
        resource.get("/api/messages/{id}", one),
        resource.get("/api/threads/{id}", thread, "limit"),
        resource.get("/api/search", find, "words", "where", "limit"),
        resource.get("/api/people", at.answer(_people)),
    ]


def _window(ask: Ask) -> Window:
    kinds = ask.texts("kinds")
    unknown = [one for one in kinds if one not in windows.KINDS]
    if unknown:
        raise InvalidInput(f"{unknown[0][:80]!r} is no kind of message.", f"There are: {', '.join(windows.KINDS)}.")
    sieve = Sieve([one for one in windows.KINDS if one in kinds], ask.text("from") or "")
    before, after, at = ask.number("before"), ask.number("after"), ask.moment("at")
    if sum(one is not None for one in (before, after, at)) > 1:
        raise InvalidInput("A window is before a number, after one, or at a time.", "Send one of them.")
    return Window(sieve, ask.limit(_LAST, _MOST), before, after, at)


def _seen(tx: ReadTx, instance: Instance | None, wanted: Window) -> Plain:
    """Oldest first. Whether there is more on either side is said."""
    if instance is None:
        return {"messages": [], "has_older": False, "has_newer": False}
    found, has_older, has_newer = _look(tx, instance, wanted)
    return {"messages": [plain.message(one) for one in found], "has_older": has_older, "has_newer": has_newer}


def _look(tx: ReadTx, instance: Instance, wanted: Window) -> tuple[list[Message], bool, bool]:
    stream, sieve, limit = instance.stream, wanted.sieve, wanted.limit
    after = wanted.after if wanted.at is None else windows.seq_at(tx, stream, wanted.at) - 1
    if after is not None:
        found = windows.newer(tx, stream, sieve, after, limit + 1)
        return found[:limit], bool(windows.older(tx, stream, sieve, after + 1, 1)), len(found) > limit
    found = windows.older(tx, stream, sieve, wanted.before, limit + 1)
    has_newer = wanted.before is not None and bool(windows.newer(tx, stream, sieve, wanted.before - 1, 1))
    return found[-limit:], len(found) > limit, has_newer


def _one(tx: ReadTx, instance: Instance | None, id: MessageId) -> Plain:
    found = messages.get(tx, id, desk.there(instance).stream)
    receipts = [(agents.get(tx, one.agent).name, one) for one in mailbox.receipts(tx, found.stream, found.seq)]
    return {
        "message": plain.message(found),
        "receipts": [plain.receipt(name, one) for name, one in receipts],
    }


def _thread(tx: ReadTx, instance: Instance | None, id: MessageId, limit: int) -> Plain:
    root = messages.get(tx, id, desk.there(instance).stream).thread
    return {"thread": root, "messages": [plain.message(one) for one in messages.of_thread(tx, root, limit)]}


def _people(tx: ReadTx, instance: Instance | None) -> Plain:
    """Who can be mentioned."""
    known = agents.members(tx, instance.stream) if instance else []
    found: list[Plain] = [
        {"name": one.name, "kind": "person" if one.backend == "human" else "agent", "presence": one.presence(tx.now)}
        for one in known
        if one.backend != "service"
    ]
    everyone: list[Plain] = [{"name": "all", "kind": "everyone", "presence": "online"}] if found else []
    return {"names": [*found, *everyone]}
