"""An instance in which things are said, written and searched."""

from dataclasses import dataclass
from pathlib import Path

from moot.api import search as searching
from moot.api.access import Access
from moot.app.project import Project
from moot.core.caller import Caller
from moot.documents import documents
from moot.documents.ownership import SYSTEM as AUTHOR
from moot.search.search import FoundMessage, Place, Where
from moot.store.store import Store
from tests.registry.house import House, build


@dataclass(frozen=True)
class Desk:
    house: House

    @property
    def place(self) -> Place:
        return Place(self.house.instance.name, self.house.stream)

    async def write(self, file: str, content: str) -> None:
        await self.house.write(lambda tx: documents.write(tx, self.place.instance, file, content, AUTHOR))

    async def delete(self, file: str) -> None:
        await self.house.write(lambda tx: documents.delete(tx, self.place.instance, file, AUTHOR))

    async def found(self, query: str, where: Where = "everything", limit: int = 100) -> list[str]:
        """Snippets of messages; files and versions of documents."""
        access = Access(self.house.store, Project(Path()), Caller("human", "operator", self.place.instance))
        found = await searching.search(access, query, where=where, limit=limit)
        return [one.snippet if isinstance(one, FoundMessage) else f"{one.file} {one.version}" for one in found]


async def open_desk(store: Store, instance: str = "default") -> Desk:
    return Desk(await build(store, instance))
