"""Steps call moot's own tools and those of other MCP servers, which are started when they are needed."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from moot.engine.expressions.sandbox import Sandbox
from moot.requests import requests
from moot.store.store import Store
from tests.client.neighbours import ODD, odd
from tests.flowing import SECONDS, carried_out, laid_out

pytestmark = pytest.mark.slow
CALLS = """
steps:
  - {id: add, type: mcp_call, method: odd.add, params: {a: 1, b: "{{ 2 }}"}, state_update: {path: raw.sum}}
  - {id: bad, type: mcp_call, mcp: {method: odd/add, params: {a: none}}, on_error: continue,
     error_state_update: {path: raw.why, value: "{{ error.message }}"}}
  - {id: say, type: mcp_call, method: channel.send, params: {message: "sum {{ sum }}"}}
  - {id: none, type: mcp_call, method: mcp__odd__nothing, on_error: continue,
     error_state_update: {path: raw.none, value: true}}
"""


async def test_tools_of_a_server_and_of_moot_are_called(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {"flow": CALLS}, {"odd": odd()}) as flows:
        id = await flows.run()
        over = await flows.over(id)
        assert (over.status, over.error) == ("completed", "")
        state = await flows.flat(id)
        assert (state["sum"], state["none"], "why" in state) == (3, True, True)
        said = (await flows.done("channel_read"))["entries"]
        assert [(one["from"], one["message"]) for one in said] == [("orchestrator", "sum 3")]


async def test_a_server_that_cannot_be_started_fails_the_step(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    text = """
steps: [{id: add, type: mcp_call, method: odd.add, params: {a: 1, b: 2}}]
"""
    broken = odd(command="/bin/false", args=[])
    async with carried_out(store, tmp_path, sandbox, {"flow": text}, {"odd": broken}) as flows:
        over = await flows.over(await flows.run())
        assert over.status == "failed"
        assert "odd" in over.error


async def test_a_server_that_one_can_do_without_and_cannot_be_started_fails_the_step(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: add, type: mcp_call, method: odd.add, params: {a: 1, b: 2}, on_error: continue,
     error_state_update: {path: raw.why, value: "{{ error.message }}"}}
"""
    broken = odd(command="/bin/false", args=[], optional=True)
    async with carried_out(store, tmp_path, sandbox, {"flow": text}, {"odd": broken}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        assert "odd" in str((await flows.flat(id))["why"])


async def test_a_call_that_takes_longer_than_its_step_allows_has_failed(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps:
  - {id: hang, type: mcp_call, method: odd.hang, timeout: 300ms, on_error: continue,
     error_state_update: {path: raw.why, value: "{{ error.message }}"}}
  - {id: add, type: mcp_call, method: odd.add, params: {a: 1, b: 2}, timeout: 1m, state_update: {path: raw.sum}}
"""
    async with carried_out(store, tmp_path, sandbox, {"flow": text}, {"odd": odd()}) as flows:
        id = await flows.run()
        assert (await flows.over(id)).status == "completed"
        state = await flows.flat(id)
        assert state["sum"] == 3
        assert state["why"] == "odd.hang has not answered in 0.3 s, and how this ended is not known."


async def test_a_call_of_another_server_that_was_under_way_when_its_host_went_is_a_question(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    text = """
steps: [{id: hang, type: mcp_call, method: odd.hang, state_update: {path: raw.came}}]
"""
    os.mkfifo(tmp_path / "pipe")
    told = odd(command="/bin/sh", args=["-c", f'echo > {tmp_path}/pipe; exec "$0" "$1"', sys.executable, ODD])
    async with laid_out(store, tmp_path, sandbox, {"flow": text}, {"odd": told}) as flows:
        async with flows.hosted():
            id = await flows.run()
            async with asyncio.timeout(SECONDS):
                await asyncio.to_thread((tmp_path / "pipe").read_text)
        async with flows.hosted():
            await flows.waits(id, "person")
            (asked,) = await store.read(lambda tx: requests.open_of(tx, flows.house.stream))
            assert asked.title.startswith("Was `odd.hang` done?")
