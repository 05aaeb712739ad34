"""Whoever advances a flow gives it back when nothing is left to do; what comes at that moment is not left lying."""

import asyncio
from pathlib import Path

import pytest

from moot.client.external import Surroundings
from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, HostId
from moot.core.tx import Query, Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import compiling
from moot.engine.flow import flows
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job
from moot.runner.flows.worker import FlowWorker
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.tools import advancing
from tests.flowing import Flows, carried_out, laid_out
from tests.interleave import interleave

WAITING = "steps: [{id: one, type: agent_prompt, prompt: first}, {id: two, type: user_message, message: hello}]"

_SPOILT = """update flow_texts set files = '[["flow","steps: ["]]' where flow = """
SPOIL = Query("spoil", f"{_SPOILT}:flow", f"{_SPOILT}%(flow)s")


def worker(found: Flows) -> FlowWorker:
    def around() -> Surroundings:
        raise AssertionError("nobody calls another server here")

    return FlowWorker(found.store, found.evaluator, found.deeds, around, asyncio.Event())


async def held(found: Flows) -> tuple[FlowId, Job]:
    """A flow that waits for its agent, and the job of advancing it, which somebody has."""
    async with found.hosted():
        id = FlowId(await found.start())
        await found.waits(id, "agent")
        await found.until(lambda tx: True if not jobs.live(tx, found.house.stream) else None)

    def take(tx: Tx) -> Job:
        advancing.advance(tx, id, found.house.stream)
        return jobs.take(tx, Appetite(HostId("ho_1"), 0, 1))[0]

    return id, await found.store.write(take, caller=SYSTEM)


def submit(tx: Tx, id: FlowId) -> None:
    advancing.submit(tx, flows.get(tx, id), "complete", {"step_id": "one.agent_prompt", "status": "success"})


async def live_jobs(found: Flows) -> list[str]:
    return [one.state for one in await found.store.read(lambda tx: jobs.live(tx, found.house.stream))]


async def test_what_comes_while_a_flow_is_held_needs_no_further_job(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": WAITING}) as found:
        id, job = await held(found)
        await store.write(lambda tx: submit(tx, id), caller=SYSTEM)
        assert not await store.write(lambda tx: worker(found).give_back(tx, job, id), caller=SYSTEM)
        await store.write(lambda tx: jobs.finish(tx, job), caller=SYSTEM)
        assert await live_jobs(found) == []


async def test_what_comes_when_nobody_holds_a_flow_is_a_job(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": WAITING}) as found:
        id, job = await held(found)
        assert await store.write(lambda tx: worker(found).give_back(tx, job, id), caller=SYSTEM)
        await store.write(lambda tx: submit(tx, id), caller=SYSTEM)
        assert await live_jobs(found) == ["queued"]


@pytest.mark.parametrize("first", ["giving back", "submitting"])
async def test_what_comes_while_a_flow_is_given_back_is_taken_in(
    pg_store: PostgresStore, tmp_path: Path, sandbox: Sandbox, first: str
) -> None:
    async with laid_out(pg_store, tmp_path, sandbox, {"flow": WAITING}) as found:
        id, job = await held(found)
        own = worker(found)
        if first == "giving back":
            given = await interleave(pg_store, lambda tx: own.give_back(tx, job, id), lambda tx: submit(tx, id))
            assert given.second_waited
            assert (given.first, await live_jobs(found)) == (True, ["queued"])
        else:
            kept = await interleave(pg_store, lambda tx: submit(tx, id), lambda tx: own.give_back(tx, job, id))
            assert kept.second_waited
            assert (kept.second, await live_jobs(found)) == (False, ["running"])


async def test_a_flow_that_cannot_go_on_answers_who_waits_for_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": WAITING}) as found:
        id = FlowId(await found.start())
        await found.waits(id, "agent")
        await found.until(lambda tx: True if not jobs.live(tx, found.house.stream) else None)

        await store.write(lambda tx: tx.run(SPOIL, flow=id), caller=SYSTEM)
        compiling.compiled.cache_clear()
        code = await found.refused("workflow_step_complete", workflow_id=id, step_id="one.agent_prompt")
        assert code == "WORKFLOW_FAILED"
        assert (await found.flow(id)).status == "failed"
