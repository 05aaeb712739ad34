"""The relay as clients start it: a program on their standard streams, beside servers that are killed."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, MCPError, StdioServerParameters

from moot.store import sqlite
from tests.mcp.people import Meeting
from tests.mcp.served import DEADLINE, Served, environment, relay_command


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    running = Served(tmp_path)
    yield running
    running.kill()


def stdio(served: Served, *more: str) -> StdioServerParameters:
    program, *arguments = relay_command(served.socket, *more)
    return StdioServerParameters(command=program, args=arguments, env=environment(served.token))


async def said(served: Served) -> list[tuple[str, str]]:
    store = sqlite.open_file(served.store, create=False)
    try:
        return await Meeting(store).said()
    finally:
        await store.close()


# Where a server dies, the revision makes no difference to the relay.
EITHER = pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.chaos)])


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_official_client_talks_through_it(served: Served, mode: str, revision: str) -> None:
    async with asyncio.timeout(DEADLINE), Client(stdio(served), mode=mode, read_timeout_seconds=30) as client:
        assert client.protocol_version == revision
        assert "channel_send" in {tool.name for tool in (await client.list_tools()).tools}
        assert not (await client.call_tool("channel_send", {"message": "over stdio"})).is_error
        assert (await client.read_resource("moot://channel")).contents
    assert await said(served) == [("ann", "over stdio")]


@EITHER
async def test_a_client_does_not_notice_that_the_server_was_killed_and_started_again(served: Served, mode: str) -> None:
    async with asyncio.timeout(DEADLINE), Client(stdio(served), mode=mode, read_timeout_seconds=30) as client:
        for number in range(3):
            assert not (await client.call_tool("channel_send", {"message": str(number)})).is_error
            await asyncio.to_thread(served.kill)
            await asyncio.to_thread(served.start_again)
    assert [body for _, body in await said(served)] == ["0", "1", "2"]


@EITHER
async def test_a_relay_takes_over_from_a_killed_server(served: Served, mode: str) -> None:
    async with (
        asyncio.timeout(DEADLINE),
        Client(stdio(served, str(served.store)), mode=mode, read_timeout_seconds=30) as client,
    ):
        assert not (await client.call_tool("channel_send", {"message": "before"})).is_error
        await asyncio.to_thread(served.kill)
        assert not (await client.call_tool("channel_send", {"message": "after"})).is_error
    assert await said(served) == [("ann", "before"), ("ann", "after")]


@EITHER
async def test_a_client_is_told_that_the_server_is_stopped_and_served_when_it_goes_on(
    served: Served, mode: str
) -> None:
    hasty = stdio(served).model_copy(update={"env": {**environment(served.token), "MOOT_SILENCE": "0.5"}})
    async with asyncio.timeout(DEADLINE), Client(hasty, mode=mode, read_timeout_seconds=DEADLINE) as client:
        assert not (await client.call_tool("channel_send", {"message": "before"})).is_error
        served.stop()
        for _ in range(2):
            with pytest.raises(MCPError, match=r"SERVER_SILENT: .*kill -CONT"):
                await client.call_tool("channel_read", {})
        served.go_on()
        while not await is_answered(client):
            continue  # until the relay has heard the sign of life
        assert not (await client.call_tool("channel_send", {"message": "after"})).is_error
    assert await said(served) == [("ann", "before"), ("ann", "after")]


async def is_answered(client: Client) -> bool:
    try:
        return not (await client.call_tool("channel_read", {})).is_error
    except MCPError as error:
        if "SERVER_SILENT" not in str(error):
            raise
        return False


def test_it_imports_nothing_heavy() -> None:
    heavy = "{'mcp', 'mcp_types', 'starlette', 'uvicorn', 'pydantic', 'anyio', 'httpx2', 'apsw', 'orjson'}"
    code = f"import sys, moot.mcp.relay.relaying, moot.mcp.relay.stdio; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "[]\n"


OPENING = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"t","version":"1"}}}\n'
)


@pytest.mark.parametrize("source", ["pipe", "file"])
def test_it_ends_with_its_input_and_answers_what_was_asked_before(served: Served, tmp_path: Path, source: str) -> None:
    (tmp_path / "input").write_bytes(OPENING + b"noise\n")
    with (tmp_path / "input").open("rb") as file:
        process = subprocess.Popen(
            relay_command(served.socket),
            env=environment(served.token),
            stdin=file if source == "file" else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        output, errors = process.communicate(None if source == "file" else file.read(), timeout=DEADLINE)
    assert (process.returncode, errors) == (0, b"")
    answers = output.splitlines()
    assert len(answers) == 2
    assert any(b'"protocolVersion":"2025-06-18"' in answer for answer in answers)
    assert any(b"-32700" in answer for answer in answers)


def test_it_ends_when_nobody_reads_its_output(served: Served) -> None:
    process = subprocess.Popen(
        relay_command(served.socket),
        env=environment(served.token),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(OPENING)
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"noise\n" * 3)
    process.stdin.flush()
    assert process.wait(DEADLINE) == 0
    process.stdin.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
