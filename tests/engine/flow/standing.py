"""Flows that stand before their first change, and nobody has in hand."""

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.library import Files
from moot.core.tx import Tx
from moot.engine.files import compiling
from moot.engine.flow import delta, flows
from moot.engine.flow.delta import Live
from moot.engine.flow.flows import NewFlow
from moot.registry import instances
from moot.store.store import Store


async def created(store: Store, texts: Files) -> Live:
    """Of the first of these texts."""
    definition = compiling.compiled(texts)

    def create(tx: Tx) -> Live:
        instance = instances.ensure(tx, InstanceName("house"))
        new = NewFlow(instance.name, instance.stream, "w", "w.yaml", texts, {}, "moot")
        return delta.load(tx, flows.create(tx, new).id, definition)

    return await store.write(create, caller=SYSTEM)
