"""Commits of a flow, and what others do at the same moment."""

import asyncio
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId, RequestId
from moot.core.tx import Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import inbox
from moot.engine.flow.flows import Driver
from moot.registry import agents
from moot.requests.requests import Answerer
from moot.runner import react
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
