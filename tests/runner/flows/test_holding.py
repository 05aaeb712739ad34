"""Commits of a flow, and what others do at the same moment."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, RequestId
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import inbox
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Driver, Flow
from moot.engine.flow.inbox import Submission
from moot.registry import agents
from moot.requests.requests import Answerer
from moot.runner import react
from moot.runner.flows.cues import Cue, Position
from moot.store.postgres import PostgresStore
from moot.tools import asking
from moot.tools.asking import Reply
from tests.flowing import SECONDS, laid_out
from tests.interleave import interleave
from tests.runner.flows.waiting import WAIT, about_to_wait, step


@pytest.mark.parametrize("driver", ["moot", "agent"])
async def test_what_ends_while_a_step_begins_to_wait_for_it_is_told(
    pg_store: PostgresStore, tmp_path: Path, sandbox: Sandbox, driver: Driver
) -> None:
    async with laid_out(pg_store, tmp_path, sandbox, {"flow": WAIT % "approval"}) as found:
        ann = await found.caller("ann")
        asked = RequestId(
            (await found.done("request_create", ann, to="human", type="permission", title="May I?"))["id"]
        )
        id = FlowId(await found.run(driver=driver, id=asked))
        live, change = await about_to_wait(found, id)

        def answer(tx: Tx) -> None:
            by = Answerer("human", agents.person(tx, found.house.instance).id)
            asking.answer(tx, found.house.instance, asked, Reply("approved"), by)

        async def be_answered() -> None:
            await pg_store.write(answer, caller=SYSTEM)

        def wait(tx: Tx) -> None:
            """Begin to; before that is committed it is answered."""
            assert step(tx, found, live, change)
            asyncio.run_coroutine_threadsafe(be_answered(), loop).result(SECONDS)

        loop = asyncio.get_running_loop()
        met = await interleave(pg_store, wait, react.react)
        assert met.second_waited
        told = await pg_store.read(lambda tx: inbox.waiting(tx, id))
        assert [one.body["status"] for one in told] == ["success"]


@dataclass
class EndedMeanwhile:
    """A guide whose job is ended while its first commit is made, as that of a run that is over is."""

    evaluator: Evaluator
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    is_told: asyncio.Event = field(default_factory=asyncio.Event)
    told: list[str] = field(default_factory=list[str])  # how the flow stood before each commit
    job: "asyncio.Task[None] | None" = None
    is_asked: bool = True

    def of(self, flow: Flow, signal: Signal) -> "EndedMeanwhile":
        return self

    async def choose(self, live: Live, waiting: tuple[Submission, ...], own: Cue | None) -> Cue | None:
        self.job = self.job or asyncio.current_task()
        return own

    def nothing_came(self) -> None:
        pass

    def position(self, tx: Tx, flow: Flow) -> Position | None:
        assert self.job is not None
        self.loop.call_soon_threadsafe(self.job.cancel)
        return None

    def committed(self, before: Live, change: Delta, after: Live, position: Position | None) -> None:
        self.told.append(before.flow.status)
        self.is_told.set()

    def leave(self) -> None:
        pass


async def test_who_guides_a_flow_is_told_of_a_commit_though_its_job_is_ended_meanwhile(
    pg_store: PostgresStore, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = "steps: [{id: it, type: shell_command, command: 'true'}]"
    async with laid_out(pg_store, tmp_path, sandbox, {"flow": text}) as found:
        guide = EndedMeanwhile(found.evaluator)
        found.guiding = guide.of
        await found.run()
        async with found.hosted(), asyncio.timeout(SECONDS):
            await guide.is_told.wait()
        assert guide.told[0] == "starting"
