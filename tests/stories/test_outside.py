"""Agents that moot does not start: from outside, who wait for mail themselves, and people, who answer when they can."""

import asyncio
from typing import Any, cast

from mcp import Client

from tests.stories.house import SECONDS, House

OUTSIDE = """
name: outside
agents:
  ben: {backend: external}
  coder: {backend: scripted, script: [{on: found, say: "mended, thank you"}]}
kickoff: "@ben look for what is wrong."
"""
ALONE = """
context: false
agents:
  ben: {backend: external}
  coder: {backend: scripted, script: [{say: "nobody hears @ben"}]}
kickoff: "@ben @coder say something"
"""
PERSON = """
name: choice
agents:
  ana: {backend: human}
  coder: {backend: scripted, script: [{on: left, from: ana, say: "then the left one"}]}
kickoff: "@ana which of the two shall we take?"
"""


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return cast(dict[str, Any], result.structured_content)


async def test_where_nothing_is_shared_there_are_no_files_and_nobody_has_tools_for_them(house: House) -> None:
    (house.root / "alone.yaml").write_text(ALONE)
    async with asyncio.timeout(2 * SECONDS), asyncio.TaskGroup() as group:
        run = group.create_task(house.moot("run", "alone.yaml"))
        await house.until_said("nobody hears @ben")
        async with house.client("--as", "ben@default") as ben:
            offered = {one.name for one in (await ben.list_tools()).tools}
            (mail,) = (await call(ben, "inbox_check"))["messages"]
            await call(ben, "inbox_ack", until=mail["entry"]["id"])
        await run
    assert [one for one in offered if one.startswith(("channel", "document"))] == []
    assert mail["entry"]["message"] == "@ben @coder say something"
    assert not (house.root / ".workflow" / "default").exists()
    assert await house.json("doc", "list") == []


async def test_an_agent_from_outside_waits_for_its_mail_and_a_run_waits_for_it(house: House) -> None:
    (house.root / "outside.yaml").write_text(OUTSIDE)
    async with asyncio.timeout(2 * SECONDS), asyncio.TaskGroup() as group, house.client("--as", "ben@default") as ben:
        waiting = group.create_task(call(ben, "inbox_check", wait_seconds=50))
        run = group.create_task(house.moot("run", "outside.yaml"))
        (mail,) = (await waiting)["messages"]
        assert mail["entry"]["message"] == "@ben look for what is wrong."
        await call(ben, "channel_send", message="@coder I have found it.")
        await house.until_said("mended, thank you")
        assert not run.done()  # until it says that it is done with its mail
        await call(ben, "inbox_ack", until=mail["entry"]["id"])
        out = await run
    assert "mended, thank you" in out
    started = [one for one in await house.json("log", "--events") if one["kind"] == "attempt_started"]
    ids = {one["name"]: one["id"] for one in await house.json("list")}
    assert {one["data"]["agent"] for one in started} == {ids["coder"]}


async def test_who_has_not_joined_or_is_gone_again_is_offline_and_waited_for_once(house: House) -> None:
    (house.root / "outside.yaml").write_text(OUTSIDE)
    run = await house.start("run", "outside.yaml")
    assert run.stdout is not None
    shown: list[str] = []
    async with asyncio.timeout(SECONDS):
        while not shown or "waits for ben, who joins from outside: moot mcp --as ben" not in shown[-1]:
            shown.append((await run.stdout.readline()).decode())
    await expect_absent(house)
    async with house.client("--as", "ben@default") as ben:
        assert (await states(house))["ben"] == "online"
        await call(ben, "channel_send", message="I see.")
    await expect_absent(house)
    async with house.client("--as", "ben@default") as ben:
        (mail,) = (await call(ben, "inbox_check"))["messages"]
        await call(ben, "inbox_ack", until=mail["entry"]["id"])
        async with asyncio.timeout(SECONDS):
            rest = (await run.stdout.read()).decode()
            assert await run.wait() == 0
        assert "waits for" not in rest
        assert (await states(house))["ben"] == "online"  # the run is over, and it is still here


async def expect_absent(house: House) -> None:
    assert (await states(house))["ben"] == "offline"
    (reason,) = (await house.json("status", "@default"))[0]["reasons"]
    assert reason == "ben comes from outside and has not read 1 message; it joins with: moot mcp --as ben"


async def states(house: House) -> dict[str, str]:
    return {one["name"]: one["status"] for one in await house.json("list")}


async def test_a_person_is_never_started_and_answers_later(house: House) -> None:
    (house.root / "choice.yaml").write_text(PERSON)
    await house.moot("run", "choice.yaml", code=4)
    (waiting,) = await house.json("inbox", "--as", "ana")
    assert waiting["message"] == "@ana which of the two shall we take?"
    await house.moot("send", "--as", "ana", "@coder the left one")
    await house.moot("inbox", "--as", "ana", "--ack")
    await house.moot("resume")
    said = [(one["from"], one["message"]) for one in await house.json("log")]
    assert ("ana", "@coder the left one") in said
    assert said[-1] == ("coder", "then the left one")
