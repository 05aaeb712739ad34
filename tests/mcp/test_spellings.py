"""Names of tools with dots, for clients that want them, from the same server as those of all others."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot.core.caller import Caller
from moot.core.keys import SPELLING_HEADER
from moot.mcp import server
from moot.mcp.server import Address, Endpoints, Options
from moot.store.store import Store
from moot.tools import spellings, table
from moot.tools.around import Around
from tests.mcp import clients
from tests.mcp.people import DEFAULT, Meeting

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
async def dotted(anyio_backend: object, store: Store, tmp_path: Path) -> AsyncIterator[Address]:
    """A server that says dots unless it is asked otherwise."""
    options = Options(around=Around(spelling="dotted"))
    async with server.serving(store, Endpoints(tmp_path / "dotted.sock"), options) as listening:
        yield listening


async def names(client: Any) -> set[str]:
    return {one.name for one in (await client.list_tools()).tools}


@MODES
async def test_a_server_offers_dotted_names_and_takes_both(dotted: Address, meeting: Meeting, mode: str) -> None:
    ann = await meeting.join("ann")
    async with clients.official(dotted, ann.token, mode=mode) as client:
        offered = (await client.list_tools()).tools
        found = {one.name: one for one in offered}
        own = {tool.name for tool in table.offered(Caller(ann.name, "member", DEFAULT, ann.agent))}
        assert set(found) == {spellings.spelled(name, "dotted") for name in own}
        assert {"workflow.start", "workflow_state.read", "workflow.list", "workflow.instances"} <= set(found)
        assert "channel_send" in found
        assert "workflow_get_info" not in str(found["workflow.start"].input_schema)
        assert "workflow.get_info" in str(found["workflow.start"].input_schema)
        for name in ("workflow.test_transformation", "workflow_test_transformation"):
            answer = await client.call_tool(name, {"transform": "input + 1", "input": 1})
            assert answer.structured_content is not None
            assert answer.structured_content["output"] == 2
        listed = await client.call_tool("workflow.list", {})
        assert listed.structured_content == {"workflows": []}
        instances = await client.call_tool("workflow.instances", {})
        assert not instances.is_error


async def test_dots_are_not_taken_where_nobody_has_asked_for_them(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.official(address, ann.token) as client:
        assert not any("." in name for name in await names(client))
        refused = await client.call_tool("workflow.list", {})
    assert refused.structured_content is not None
    assert refused.structured_content["error"]["code"] == "TOOL_NOT_FOUND"


async def test_each_client_of_a_server_says_what_it_wants(address: Address, dotted: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    for where, wanted, is_dotted in ((address, "dotted", True), (dotted, "underscored", False)):
        async with clients.http(where, ann.token) as client:
            client.headers[SPELLING_HEADER] = wanted
            told = (await clients.ask(client, "tools/list")).json()["result"]["tools"]
            assert ("workflow.start" in {one["name"] for one in told}) is is_dotted
            prompt = (await clients.ask(client, "prompts/get", {"name": "workflow"})).json()["result"]
            assert ("workflow.get_next_step" in prompt["messages"][0]["content"]["text"]) is is_dotted
