"""Names of tools with dots, for clients that want them, from the same server as those of all others."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot.core import json
from moot.core.caller import Caller
from moot.core.json import Json
from moot.core.keys import SPELLING_HEADER
from moot.core.tool import ToolAnswer
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


async def test_what_a_step_and_a_refusal_say_of_tools_is_said_with_dots_and_what_others_have_written_stays() -> None:
    step: dict[str, Json] = {
        "id": "all.parallel_foreach",
        "instructions": "Call workflow_get_next_step again.",
        "definition": {"sub_agent_prompt": "Call workflow_get_next_step.", "tasks": ["workflow_start"]},
    }
    given: dict[str, Json] = {"step": step, "status": "in_progress"}
    answer = ToolAnswer(json.dumps(given), given)
    assert spellings.answered(answer, "underscored") is answer
    told = spellings.answered(answer, "dotted")
    assert told.structured == {
        "step": {
            "id": "all.parallel_foreach",
            "instructions": "Call workflow.get_next_step again.",
            "definition": {"sub_agent_prompt": "Call workflow.get_next_step.", "tasks": ["workflow_start"]},
        },
        "status": "in_progress",
    }
    assert json.loads(told.text) == told.structured
    refused = {"error": {"code": "X", "message": "No.", "remedy": "See workflow_list."}}
    told = spellings.answered(ToolAnswer("X: No. See workflow_list.", refused, is_error=True), "dotted")
    assert (told.text, told.structured["error"]) == (
        "X: No. See workflow.instances.",
        {"code": "X", "message": "No.", "remedy": "See workflow.instances."},
    )
    read = ToolAnswer('{"a":"workflow_start"}', {"state": {"a": "workflow_start"}})
    assert spellings.answered(read, "dotted") is read


async def test_a_client_that_wants_dots_is_told_of_tools_that_it_has(dotted: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.official(dotted, ann.token) as client:
        refused = await client.call_tool("workflow.debug_info", {"workflow_id": "wf_none"})
        assert refused.structured_content is not None
        assert refused.structured_content["error"]["remedy"] == "See workflow.instances, or moot flow ls."
