"""An agent that comes over MCP is told of new mail in what its model sees: the text, and the structured result."""

from typing import Any

import pytest
from mcp_types import TextContent

from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.keys import LATER, MAIL
from moot.core.tx import ReadTx, Tx
from moot.mcp.server import Address
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.tools import talk
from moot.tools.talk import Words
from tests.mcp import clients
from tests.mcp.people import Meeting, Person


async def coder(meeting: Meeting) -> Person:
    """An agent at work, that reads what its tools answer."""
    person = await meeting.attempt("coder")

    def change(tx: Tx) -> None:
        agents.ensure(tx, instances.ensure(tx, "default"), NewAgent("coder", backend="claude"))

    await meeting.store.write(change, caller=SYSTEM)
    return person


async def say(meeting: Meeting, body: str) -> None:
    def change(tx: Tx) -> None:
        instance = instances.ensure(tx, "default")
        talk.say(tx, instance, agents.person(tx, instance), Words(body))

    await meeting.store.write(change, caller=SYSTEM)


async def states(meeting: Meeting, person: Person) -> list[str]:
    def look(tx: ReadTx) -> list[str]:
        return [one.state for one in mailbox.unread(tx, person.agent, 100)]

    return await meeting.store.read(look)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_gets_it_in_text_and_structure(address: Address, meeting: Meeting, mode: str) -> None:
    person = await coder(meeting)
    async with clients.official(address, person.token, mode=mode) as client:
        await client.list_tools()  # from then on it checks results against their schemas
        await say(meeting, "@coder stop, this is urgent")
        for tool, arguments in (("channel_send", {"message": "working"}), ("inbox_check", {}), ("channel_peek", {})):
            result = await client.call_tool(tool, arguments)
            (block,) = result.content
            assert isinstance(block, TextContent)
            found: dict[str, Any] = result.structured_content or {}
            is_told = tool == "channel_send"
            assert ("new_mail" in found, "New mail has come" in block.text) == (is_told, is_told)
            if is_told:
                assert "- From @human [HIGH]: @coder stop, this is urgent" in found["new_mail"]
                assert block.text == f"sent\n\n{found['new_mail']}"
    assert await states(meeting, person) == ["delivered"]


async def test_a_program_that_shows_answers_to_nobody_is_told_later(address: Address, meeting: Meeting) -> None:
    person = await coder(meeting)
    await say(meeting, "@coder hello")
    async with clients.http(address, person.token) as client:
        silent = await clients.call(client, "channel_peek", {}, **{MAIL: LATER})
        assert "new_mail" not in silent["structuredContent"]
        assert await states(meeting, person) == ["queued"]
        assert "@coder hello" in (await clients.call(client, "channel_peek", {}))["structuredContent"]["new_mail"]
