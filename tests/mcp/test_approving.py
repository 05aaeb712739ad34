"""The permission prompt as Claude Code calls it: listed for who asks, one text, nothing structured, held over MCP."""

import asyncio
import json

import pytest
from mcp_types import TextContent

from moot.core.caller import SYSTEM
from moot.core.ids import HostId, JobId
from moot.core.tx import ReadTx, Tx
from moot.mcp.server import Address
from moot.registry import agents, attempts, instances, tokens
from moot.registry.agents import NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.tokens import Grant
from moot.requests import requests
from moot.requests.requests import Request
from tests.mcp import clients
from tests.mcp.people import DEFAULT, Meeting

ASKED = {"tool_name": "Bash", "input": {"command": "make test"}, "tool_use_id": "toolu_01"}


async def token(meeting: Meeting) -> str:
    """Of an attempt that may have to ask."""
    text = tokens.new_text()

    def change(tx: Tx) -> None:
        instance = instances.ensure(tx, DEFAULT)
        agent = agents.ensure(tx, instance, NewAgent("coder", backend="claude"))
        new = NewAttempt(agent.id, instance.stream, JobId("jb_1"), 1, 1, HostId("ho_1"))
        groups = ("channel", "inbox", "approve")
        tokens.mint(tx, text, Grant("attempt", DEFAULT, "member", agent.id, groups, attempts.start(tx, new)))

    await meeting.store.write(change, caller=SYSTEM)
    return text


async def open_request(meeting: Meeting) -> str:
    def look(tx: ReadTx) -> list[Request]:
        return requests.open_of(tx, instances.get(tx, DEFAULT).stream)

    with meeting.store.listen() as signal:
        while not (found := await meeting.store.read(look)):
            await signal.wait()
            signal.clear()
    return found[0].id


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_person_permits_it_over_mcp_while_the_call_holds(address: Address, meeting: Meeting, mode: str) -> None:
    operator = await meeting.operator()
    async with (
        asyncio.timeout(clients.DEADLINE * 3),
        clients.official(address, await token(meeting), mode=mode) as coder,
        clients.official(address, operator.token) as person,
    ):
        (tool,) = [one for one in (await coder.list_tools()).tools if one.name == "approve"]
        assert tool.output_schema is None
        assert "approve" not in [one.name for one in (await person.list_tools()).tools]
        holding = asyncio.ensure_future(coder.call_tool("approve", ASKED))
        await person.call_tool("request_respond", {"request_id": await open_request(meeting), "approve": True})
        answer = await holding
    (block,) = answer.content
    assert isinstance(block, TextContent)
    assert json.loads(block.text) == {"behavior": "allow", "updatedInput": {"command": "make test"}}
    assert (answer.is_error, answer.structured_content) == (False, None)


async def test_a_call_that_is_broken_off_leaves_its_request_for_the_next(address: Address, meeting: Meeting) -> None:
    mine, operator = await token(meeting), await meeting.operator()
    async with asyncio.timeout(clients.DEADLINE * 3), clients.official(address, operator.token) as person:
        async with clients.official(address, mine) as coder:
            broken = asyncio.ensure_future(coder.call_tool("approve", ASKED))
            id = await open_request(meeting)
            broken.cancel()
            await asyncio.wait([broken])
        await person.call_tool("request_respond", {"request_id": id, "approve": True})
        async with clients.official(address, mine) as coder:
            (block,) = (await coder.call_tool("approve", ASKED)).content
        assert isinstance(block, TextContent)
        assert json.loads(block.text)["behavior"] == "allow"
