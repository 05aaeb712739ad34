"""A host that carries out flows, over a store that is durable as in daily life."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.caller import SYSTEM
from moot.core.ears import Ears
from moot.core.ids import AgentId, FlowId, HostId, InstanceName
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import flows
from moot.engine.flow.flows import Driver, Flow, NewFlow
from moot.process import identity
from moot.process.guardian import Guardian
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.worker import FlowWorker
from moot.runner.host import Host
from moot.runner.worker import Worker
from moot.store import sqlite
from moot.store.sqlite import SqliteStore
from moot.tools import advancing

if TYPE_CHECKING:
    from moot.client.external import Surroundings

INSTANCE = InstanceName("bench")
_DEADLINE = 600.0


@dataclass(frozen=True, slots=True)
class Stage:
    """An open store, somebody who may drive flows, and a host at work."""

    store: SqliteStore
    sandbox: Sandbox
    driver: AgentId
    ears: Ears

    async def start(self, text: str, driver: Driver = "moot", credits: int | None = None) -> Flow:
        """A flow of this definition; with no credits it stands before its first step."""

        def begin(tx: Tx) -> Flow:
            instance = instances.ensure(tx, INSTANCE)
            holder = self.driver if driver == "agent" else None
            new = NewFlow(
                instance.name,
                instance.stream,
                "bench",
                "bench.yaml",
                (("bench.yaml", text),),
                {},
                driver,
                holder=holder,
                credits=credits,
            )
            flow = flows.create(tx, new)
            advancing.advance(tx, flow.id, flow.stream)
            return flow

        flow = await self.store.write(begin, caller=SYSTEM)
        return await self.until(flow.id, lambda found: found.status != "starting")

    async def until(self, id: FlowId, is_so: Callable[[Flow], bool]) -> Flow:
        def look(tx: ReadTx) -> Flow:
            return flows.get(tx, id)

        async with asyncio.timeout(_DEADLINE):
            with self.store.listen() as signal:
                while True:
                    signal.clear()
                    found = await self.store.read(look)
                    if is_so(found):
                        return found
                    await signal.wait(1.0)


@asynccontextmanager
async def staged(folder: Path) -> AsyncGenerator[Stage]:
    store = sqlite.open_file(folder / "moot.db", create=True)
    try:
        driver = await store.write(
            lambda tx: agents.ensure(tx, instances.ensure(tx, INSTANCE), NewAgent("driver")).id, caller=SYSTEM
        )
        with Guardian() as guardian:
            ears = Ears()
            async with Sandbox().open() as sandbox, _hosted(store, sandbox, guardian, folder, ears):
                yield Stage(store, sandbox, driver, ears)
    finally:
        await store.close()


@asynccontextmanager
async def _hosted(
    store: SqliteStore, sandbox: Sandbox, guardian: Guardian, folder: Path, ears: Ears
) -> AsyncGenerator[None]:
    machine = neighbours.machine()
    deeds = Deeds(store, folder, folder / "steps", machine, guardian)

    def around() -> "Surroundings":
        raise AssertionError("no step here calls another server")

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {advancing.ADVANCE: FlowWorker(store, sandbox, deeds, around, asyncio.Event(), ears=ears)}

    host = Host(store, NewHost(machine, str(identity.current()), ("react", "work")), workers)
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield
        finally:
            host.stop(now=True)
