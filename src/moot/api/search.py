"""Searching the messages and documents of an instance."""

from collections.abc import Callable
from typing import TypeVar

from moot.api.access import Access
from moot.core import clock
from moot.core.caller import SYSTEM
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import instances
from moot.search import wanted as wants
from moot.search.search import Found, FoundDocument, Place, Where
from moot.store.store import Store
from moot.tools import finding

T = TypeVar("T")


@record
class _Hands:
    store: Store

    async def read(self, look: Callable[[ReadTx], T]) -> T:
        return await self.store.read(look)

    async def upkeep(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


async def search(access: Access, words: str, *, where: Where = "everything", limit: int = 20) -> list[Found]:
    """What has all of these words, the newest first."""
    wanted = wants.parse(words)
    instance = await access.store.read(lambda tx: instances.find(tx, access.caller.instance))
    if instance is None:
        return []
    return await finding.find(_Hands(access.store), Place(instance.name, instance.stream), wanted, where, limit)


def plain(one: Found) -> dict[str, Json]:
    """With the names that tools use."""
    if isinstance(one, FoundDocument):
        what: dict[str, Json] = {"file": one.file, "version": one.version, "from": one.author}
    else:
        what = {"id": one.id, "seq": one.seq, "kind": one.kind, "from": one.sender}
    return {**what, "timestamp": clock.to_iso(one.at), "snippet": one.snippet}
