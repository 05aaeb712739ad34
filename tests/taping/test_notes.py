"""Notes are played one by one: what is handed out with one is what the recording has there."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.ids import HostId, InstanceName
from moot.process import identity
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host
from moot.runner.worker import Worker
from moot.store.store import Store
from moot.taping.replaying import notes
from moot.taping.replaying.performance import Part, Performance
from moot.taping.tape import Letter, More, Tape
from moot.tools.toolbox import AttemptToolbox
from tests.runner.team import SECONDS, gather, in_process, make_worker, running
from tests.taping.test_score import HEADER


class Busy:
    """Works until it is told to end."""

    def __init__(self) -> None:
        self.is_done = asyncio.Event()
        self.begun: asyncio.Future[Begun] = asyncio.get_running_loop().create_future()

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        await self.is_done.wait()
        yield Ended()

    def host(self, store: Store) -> Host:
        @asynccontextmanager
        async def equip(begun: Begun) -> AsyncGenerator[Kit]:
            self.begun.set_result(begun)
            yield in_process(AttemptToolbox(store, begun.caller, begun.delivery))

        def workers(host: HostId) -> Mapping[str, Worker]:
            return {"attempt": replace(make_worker(store, host, backend=self), equip=equip)}

        new = NewHost(neighbours.machine(), str(identity.current()), ("serve", "react", "work", "run"))
        return Host(store, new, workers)


async def test_mail_that_came_a_moment_later_is_handed_out_later(store: Store) -> None:
    team, busy = await gather(store, {"ann": []}), Busy()
    performance = Performance(Tape(HEADER, (), None), InstanceName("default"))
    performance.store.set_result(store)
    async with running(busy.host(store)):
        await team.say("@ann go")
        async with asyncio.timeout(SECONDS):
            part = Part(await busy.begun, None)
        words = ["@ann one", "@ann two"]
        for one in words:
            await team.say(one)
        recorded = [More("at_1", (Letter("ms_1", "human", "message", one),)) for one in words]
        handed = [await notes.hand_out(performance, part, one) for one in recorded]
        busy.is_done.set()
        await team.idle()
    assert [[one.body for one in mail] for mail in handed] == [["@ann one"], ["@ann two"]]
    assert performance.drifts.facts == []
