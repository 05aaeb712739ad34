"""MCP clients take part through `moot mcp`, with a host or without, and go on when a server disappears."""

import asyncio
import signal
import time
from typing import Any, cast

import psutil
from mcp import Client

from tests.processes import wait_for_end
from tests.stories.house import SECONDS, House


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return cast(dict[str, Any], result.structured_content)


async def test_two_clients_meet_without_a_host(house: House) -> None:
    async with house.client("--as", "rita") as rita, house.client("--as", "sam") as sam:
        await call(rita, "channel_send", message="@sam are you there?")
        inbox = await call(sam, "inbox_check", wait_seconds=20)
        assert [one["entry"]["message"] for one in inbox["messages"]] == ["@sam are you there?"]
        assert [one["entry"]["from"] for one in inbox["messages"]] == ["rita"]
        await call(sam, "inbox_ack", until=inbox["messages"][-1]["entry"]["id"])
        assert (await call(sam, "inbox_check"))["messages"] == []


async def test_a_client_goes_on_when_the_one_that_served_is_killed(house: House) -> None:
    async with house.client("--as", "sam") as sam:
        served_by = await serving_process(house)
        async with house.client("--as", "rita") as rita:
            await call(rita, "channel_send", message="before")
            served_by.send_signal(signal.SIGKILL)
            wait_for_end(served_by.pid, SECONDS)
            await call(rita, "channel_send", message="after")
            entries = (await call(rita, "channel_read"))["entries"]
            assert [one["message"] for one in entries] == ["before", "after"]
            assert await serving_process(house) != served_by
        del sam


async def test_a_client_is_served_on_when_the_host_is_killed(house: House) -> None:
    async with house.serving() as host, house.client("--as", "rita") as rita:
        await call(rita, "channel_send", message="before")
        host.kill()
        await host.wait()
        killed = time.monotonic()
        await call(rita, "channel_send", message="after")
        print(f"answered {time.monotonic() - killed:.2f} s after the host was killed")  # noqa: T201  # pytest keeps it
        assert [one["message"] for one in (await call(rita, "channel_read"))["entries"]] == ["before", "after"]
        assert (await serving_process(house)).pid != host.pid


async def test_an_operator_acts_for_agents_it_registered_and_no_others(house: House) -> None:
    async with house.serving(), house.client() as operator, house.client("--as", "rita") as rita:
        first = await call(operator, "agent_register", name="worker-1", runtime="claude_code")
        second = await call(operator, "agent_register", name="worker-2", runtime="codex")
        await call(operator, "channel_send", message="@worker-2 yours", agent_id=first["id"])
        inbox = await call(operator, "inbox_check", agent_id=second["id"])
        assert [one["entry"]["from"] for one in inbox["messages"]] == ["worker-1"]
        beat = await call(operator, "agent_heartbeat", agent_id=second["id"])
        assert (beat["next_heartbeat_ms"], beat["unread"]) == (30000, 1)
        refused = await rita.call_tool("channel_send", {"message": "I am worker-1", "agent_id": first["id"]})
        assert refused.is_error
        assert "NOT_ALLOWED" in str(refused.content)
        await call(operator, "agent_unregister", id=first["id"])


async def test_the_token_of_a_client_dies_with_it(house: House) -> None:
    async with house.serving():
        async with house.client("--as", "rita") as rita:
            await call(rita, "channel_send", message="here")
        log = await house.json("log")
        assert [one["from"] for one in log] == ["rita"]
    assert b"moot_" not in (house.root / ".workflow" / "moot.db").read_bytes()


async def test_only_the_chosen_tool_groups_are_offered(house: House) -> None:
    async with house.serving(), house.client("--as", "rita", "--tools", "inbox") as rita:
        assert {tool.name for tool in (await rita.list_tools()).tools} == {"inbox_check", "inbox_ack"}
        refused = await rita.call_tool("channel_send", {"message": "hello"})
        assert "NOT_ALLOWED" in str(refused.content)


async def test_nobody_joins_as_an_agent_that_moot_starts_or_under_a_kept_name(house: House) -> None:
    async with house.serving("agents: {greeter: {script: []}}"):
        await house.moot("mcp", "--as", "greeter", code=2)
        await house.moot("mcp", "--as", "human", code=2)
        await house.moot("mcp", "--as", "", code=2)
        await house.moot("mcp", "--as", "@other", code=2)
        await house.moot("mcp", "--tools", "everything", code=2)


async def serving_process(house: House) -> psutil.Process:
    """The process that listens on the project's socket."""
    socket = str(house.root / ".workflow" / "moot.sock")
    async with asyncio.timeout(SECONDS):
        while True:
            for process in psutil.process_iter(["cmdline"]):
                if "moot" not in (process.info["cmdline"] or []):
                    continue
                try:
                    if any(one.laddr == socket for one in process.net_connections("unix")):
                        return process
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
            await asyncio.sleep(0)


async def test_a_client_that_asks_for_dots_gets_them_from_the_same_server(house: House) -> None:
    async with house.client("--tool-names", "dotted") as dotted, house.client() as plain:
        assert "workflow.get_next_step" in {one.name for one in (await dotted.list_tools()).tools}
        assert "workflow_get_next_step" in {one.name for one in (await plain.list_tools()).tools}
        tried = await call(dotted, "workflow.test_transformation", transform="input * 2", input=21)
        assert tried["output"] == 42


async def test_a_host_that_was_told_so_offers_dots_to_who_does_not_say(house: House) -> None:
    async with (
        house.serving(more=("--tool-names", "dotted")),
        house.client() as client,
        house.client("--tool-names", "underscored") as other,
    ):
        assert "workflow.start" in {one.name for one in (await client.list_tools()).tools}
        assert "workflow_start" in {one.name for one in (await other.list_tools()).tools}
