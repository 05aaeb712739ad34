"""Documents of one instance, written and read by short words."""

from dataclasses import dataclass

from moot.core.caller import SYSTEM
from moot.core.ids import AgentId, InstanceName
from moot.documents import documents
from moot.documents.documents import Written
from moot.documents.ownership import Author
from moot.registry import instances
from moot.store.store import Store

HERE = InstanceName("default")
ANN = Author("ann", AgentId("ag_ann"))
BOB = Author("bob", AgentId("ag_bob"))
PERSON = Author("human", is_free=True)


@dataclass(frozen=True)
class Shelf:
    store: Store
    instance: InstanceName = HERE

    async def write(self, file: str, content: str, by: Author = ANN, if_version: int | None = None) -> Written:
        return await self.store.write(
            lambda tx: documents.write(tx, self.instance, file, content, by, if_version), caller=SYSTEM
        )

    async def append(self, file: str, content: str, by: Author = ANN) -> Written:
        return await self.store.write(lambda tx: documents.append(tx, self.instance, file, content, by), caller=SYSTEM)

    async def create(self, file: str, content: str = "", by: Author = ANN) -> Written:
        return await self.store.write(lambda tx: documents.create(tx, self.instance, file, content, by), caller=SYSTEM)

    async def delete(self, file: str, by: Author = ANN, if_version: int | None = None) -> Written:
        return await self.store.write(
            lambda tx: documents.delete(tx, self.instance, file, by, if_version), caller=SYSTEM
        )

    async def text(self, file: str | None = None, version: int | None = None) -> str:
        return (await self.store.read(lambda tx: documents.read(tx, self.instance, file, version))).content

    async def files(self) -> dict[str, int]:
        """The version of every document that is there."""
        return {one.file: one.version for one in await self.store.read(lambda tx: documents.all_of(tx, self.instance))}

    async def history(self, file: str) -> list[str]:
        """`version action author` of each."""
        found = await self.store.read(lambda tx: documents.history(tx, self.instance, file, 100))
        return [f"{one.version} {one.action} {one.author}" for one in found]


async def shelf(store: Store, instance: str = HERE) -> Shelf:
    opened = await store.write(lambda tx: instances.ensure(tx, instance), caller=SYSTEM)
    return Shelf(store, opened.name)
