"""A host that carries out flows, and callers that drive them with tools, over a given store."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from moot.client.external import Surroundings
from moot.core.caller import SYSTEM, Caller
from moot.core.ears import Ears
from moot.core.errors import InvalidInput
from moot.core.ids import FlowId, HostId
from moot.core.json import Json
from moot.core.library import Listed, Source
from moot.core.servers import Server
from moot.core.tool import ToolAnswer
from moot.core.tx import ReadTx, Tx
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Driver, Flow, NewFlow
from moot.engine.flow.strands import Strand
from moot.engine.state import fields
from moot.ledger.operations import Key
from moot.process import identity
from moot.process.guardian import Guardian
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from moot.runner.flows.cues import Guiding
from moot.runner.flows.deeds import Deeds
from moot.runner.flows.worker import FlowWorker
from moot.runner.host import Host
from moot.runner.worker import Worker
from moot.store.store import Store
from moot.tools import advancing, dispatch
from moot.tools.around import Around
from tests.registry.house import House, build
from tests.runner import team
from tests.tools.desk import OPERATOR, member

T = TypeVar("T")
SECONDS = 30.0
JsonObject = dict[str, Any]


@dataclass
class Shelf:
    """A library of texts by their names."""

    texts: Mapping[str, str]

    def find(self, name: str) -> Source:
        if name not in self.texts:
            raise InvalidInput(f"There is no {name}.", "Write it.")
        others = [(other, text) for other, text in self.texts.items() if other != name]
        return Source(name, name, "project", ((name, self.texts[name]), *others))

    def listed(self, *, with_global: bool = True) -> list[Listed]:
        return []


@dataclass
class Flows:
    """Flows of one store, their host and those who call its tools."""

    house: House
    root: Path
    shelf: Shelf
    deeds: Deeds
    evaluator: Evaluator
    ears: Ears = field(default_factory=Ears)  # of the only process there is
    guiding: Guiding | None = None
    hosts: list[Host] = field(default_factory=list[Host])

    @property
    def store(self) -> Store:
        return self.house.store

    async def call(
        self, tool: str, arguments: Mapping[str, Json], by: Caller = OPERATOR, key: str | None = None
    ) -> ToolAnswer:
        used = None if key is None else Key("test", key)
        async with asyncio.timeout(SECONDS):
            return await dispatch.perform(
                self.store, by, tool, arguments, used, around=Around(self.shelf, ears=self.ears)
            )

    async def done(self, tool: str, by: Caller = OPERATOR, **arguments: Json) -> JsonObject:
        answer = await self.call(tool, arguments, by)
        assert not answer.is_error, answer.text
        return dict(answer.structured)

    async def refused(self, tool: str, by: Caller = OPERATOR, **arguments: Json) -> str:
        answer = await self.call(tool, arguments, by)
        assert answer.is_error, answer.text
        assert "Traceback" not in answer.text
        return str(cast(JsonObject, answer.structured["error"])["code"])

    async def start(self, workflow: str = "flow", by: Caller = OPERATOR, **inputs: Json) -> str:
        return str((await self.done("workflow_start", by, workflow=workflow, inputs=inputs))["workflow_id"])

    async def run(
        self, workflow: str = "flow", credits: int | None = None, driver: Driver = "moot", **inputs: Json
    ) -> str:
        """Have moot carry it out by itself, or for an agent who asks for its steps later."""
        source = self.shelf.find(workflow)

        def change(tx: Tx) -> str:
            new = NewFlow(
                instance=self.house.instance.name,
                stream=self.house.stream,
                name=workflow,
                source=workflow,
                files=source.files,
                given=inputs,
                driver=driver,
                credits=credits,
            )
            made = flows.create(tx, new)
            advancing.advance(tx, made.id, made.stream)
            return made.id

        return await self.house.write(change)

    async def next(self, id: str, by: Caller = OPERATOR, task: str | None = None) -> JsonObject:
        context: dict[str, Json] = {} if task is None else {"sub_agent_context": {"task_id": task}}
        return await self.done("workflow_get_next_step", by, workflow_id=id, **context)

    async def complete(
        self, id: str, step: str, by: Caller = OPERATOR, task: str | None = None, **more: Json
    ) -> JsonObject:
        context: dict[str, Json] = {} if task is None else {"sub_agent_context": {"task_id": task}}
        return await self.done("workflow_step_complete", by, workflow_id=id, step_id=step, **context, **more)

    async def walk(self, id: str, by: Caller = OPERATOR, task: str | None = None, **results: Json) -> list[str]:
        """The ids of all steps to the end, each completed at once; with a result by the name of its step."""
        seen: list[str] = []
        while True:
            found = (await self.next(id, by, task))["step"]
            if found is None:
                return seen
            assert found["type"] != "wait", found
            seen.append(found["id"])
            name = found["id"].split(".")[0]
            result: dict[str, Json] = {"result": results[name]} if name in results else {}
            await self.complete(id, found["id"], by, task, **result)

    async def state(self, id: str) -> JsonObject:
        return dict((await self.done("workflow_state_read", workflow_id=id))["state"])

    async def caller(self, name: str) -> Caller:
        return member(await self.house.join(name))

    async def flow(self, id: str) -> Flow:
        return await self.store.read(lambda tx: flows.get(tx, FlowId(id)))

    async def strands(self, id: str) -> list[Strand]:
        return await self.store.read(lambda tx: strands.all_of(tx, FlowId(id)))

    async def steps(self, id: str) -> list[str]:
        """`id status` of all that was taken."""
        found = await self.store.read(lambda tx: history.steps(tx, FlowId(id), limit=10_000))
        return [f"{one.step_id} {one.status}" for one in found]

    async def fields(self, id: str) -> dict[str, str]:
        return await self.store.read(lambda tx: flows.fields(tx, FlowId(id)))

    async def flat(self, id: str) -> JsonObject:
        return dict(fields.flat(await self.fields(id)))

    async def until(self, look: Callable[[ReadTx], T | None]) -> T:
        """What is found once there is something."""
        async with asyncio.timeout(SECONDS):
            with self.store.listen() as signal:
                while True:
                    signal.clear()
                    found = await self.store.read(look)
                    if found is not None:
                        return found
                    await signal.wait()

    async def over(self, id: str) -> Flow:
        def look(tx: ReadTx) -> Flow | None:
            found = flows.get(tx, FlowId(id))
            return None if found.is_live else found

        return await self.until(look)

    async def waits(self, id: str, what: str) -> Flow:
        def look(tx: ReadTx) -> Flow | None:
            found = flows.get(tx, FlowId(id))
            return found if found.waits_for == what else None

        return await self.until(look)

    @asynccontextmanager
    async def hosted(self) -> AsyncGenerator[Host]:
        """Somebody is at work while the block runs."""
        async with team.running(self.host()) as host:
            yield host

    def host(self) -> Host:
        stopping = asyncio.Event()

        def workers(host: HostId) -> Mapping[str, Worker]:
            def around() -> Surroundings:
                return Surroundings(self.root, {}, self.deeds.guardian)

            own = FlowWorker(self.store, self.evaluator, self.deeds, around, stopping, self.guiding, self.ears)
            return {"attempt": team.make_worker(self.store, host), advancing.ADVANCE: own}

        new = NewHost(neighbours.machine(), str(identity.current()), ("serve", "react", "work", "run"))
        return Host(self.store, new, workers, None, stopping)


@asynccontextmanager
async def carried_out(
    store: Store,
    root: Path,
    evaluator: Evaluator,
    texts: Mapping[str, str],
    servers: Mapping[str, Server] | None = None,
) -> AsyncGenerator[Flows]:
    """Flows with a host at work on them; one text is called `flow`."""
    async with laid_out(store, root, evaluator, texts, servers) as found, found.hosted():
        yield found


@asynccontextmanager
async def laid_out(
    store: Store,
    root: Path,
    evaluator: Evaluator,
    texts: Mapping[str, str],
    servers: Mapping[str, Server] | None = None,
) -> AsyncGenerator[Flows]:
    """The same without a host."""
    with Guardian() as guardian:
        shelf = Shelf(texts)
        deeds = Deeds(store, root, root / "marks", f"here {root}", guardian, servers or {}, shelf)
        yield Flows(await build(store), root, shelf, deeds, evaluator)


async def written(store: Store, change: Callable[[Any], T]) -> T:
    return await store.write(change, caller=SYSTEM)
