"""Where a visitor of the page sits: in the store of the project, as the person or as somebody who only watches."""

from collections.abc import Awaitable, Callable

from moot.api.connection import Connection
from moot.app.project import Project
from moot.core.caller import Caller
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import instances
from moot.registry.agents import PERSON
from moot.registry.errors import InstanceNotFound
from moot.registry.instances import Instance
from moot.store import feed
from moot.store.store import Store
from moot.web.ask import Ask
from moot.web.told import BEFORE_ALL, Place

Plain = dict[str, Json]
Look = Callable[[ReadTx, Instance | None], Plain]  # None: nothing has happened there yet


@record
class Desk:
    store: Store
    project: Project

    def seat(self, ask: Ask) -> Connection:
        """As whom this visitor acts. Who only watches is nobody, and every change is refused to it once more."""
        if ask.visit.may_change:
            return Connection(self.store, self.project, Caller(PERSON, "operator", ask.instance))
        return Connection(self.store, self.project, Caller("guest", "observer", ask.instance))

    async def look(self, ask: Ask, look: Look) -> Plain:
        """In one snapshot of an instance, with the place from which events tell what changes after it."""

        def seen(tx: ReadTx) -> Plain:
            instance = instances.find(tx, ask.instance)
            found = {"instance": ask.instance, "exists": instance is not None, **look(tx, instance)}
            return {**found, "cursor": str(cursor(tx, instance))}

        return await self.store.read(seen)

    def answer(self, look: Look) -> Callable[[Ask], Awaitable[Plain]]:
        """For what takes no arguments."""

        async def answer(ask: Ask) -> Plain:
            return await self.look(ask, look)

        return answer


def there(instance: Instance | None) -> Instance:
    """InstanceNotFound, if nothing has happened in it yet."""
    if instance is None:
        raise InstanceNotFound("Nothing has happened here yet.", "Start a run, or say something.")
    return instance


def cursor(tx: ReadTx, instance: Instance | None) -> Place:
    if instance is None:
        return BEFORE_ALL
    return Place(instance.stream, feed.end(tx, instance.stream).get(instance.stream, 0))
