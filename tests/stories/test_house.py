"""A message sent from a terminal wakes an agent, which answers over MCP, and both are on disk."""

import asyncio
import shutil
import signal
import stat

import pytest

from tests.stories.house import SECONDS, House

GREETER = """
agents:
  greeter:
    transport: mcp
    script:
      - {on: hello, say: "Hello @$from!"}
      - {on: wait here, hang: true, fails: 1, say: "@$from I am back"}
"""


async def test_send_wakes_answers_and_acknowledges(house: House) -> None:
    async with house.serving(GREETER):
        answer = await house.moot("send", "hello @greeter", "--wait")
        assert "Hello @human!" in answer
        (agent,) = [one for one in await house.json("list") if one["name"] == "greeter"]
        assert (agent["status"], agent["unread"]) == ("idle", 0)
    asked, answered = await house.json("log", "--receipts")
    assert [one["state"] for one in asked["receipts"]] == ["acked"]
    assert [one["state"] for one in answered["receipts"]] == ["queued"]
    (waiting,) = await house.json("inbox", "--ack")
    assert waiting["message"] == "Hello @human!"
    assert await house.json("inbox") == []


async def test_mail_sent_while_no_host_runs_is_answered_by_the_next(house: House) -> None:
    async with house.serving(GREETER):
        pass
    assert "sent to greeter" in await house.moot("send", "hello @greeter")
    async with house.serving(GREETER):
        await until_said(house, "Hello @human!")


async def test_a_killed_host_is_replaced_and_the_agent_goes_on(house: House) -> None:
    async with house.serving(GREETER) as process:
        await house.moot("send", "@greeter wait here")
        await until_event(house, "attempt_started")
        process.kill()
        await process.wait()
    async with house.serving(GREETER) as process:
        await until_event(house, "attempt_lost")
        process.kill()
        await process.wait()
    kinds = [one["kind"] for one in await house.json("log", "--events")]
    assert kinds.count("attempt_lost") == 1
    assert kinds.count("attempt_failed") == 0


async def test_a_host_ends_cleanly_on_sigterm_and_leaves_no_socket(house: House) -> None:
    async with house.serving(GREETER) as process:
        socket = house.root / ".workflow" / "moot.sock"
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
        assert not socket.exists()
        assert await house.json("list") != []


async def test_a_second_signal_interrupts_an_agent_that_hangs(house: House) -> None:
    async with house.serving(GREETER) as process:
        await house.moot("send", "@greeter wait here")
        await until_event(house, "attempt_started")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
    kinds = [one["kind"] for one in await house.json("log", "--events")]
    assert kinds[-1] == "attempt_interrupted"


BUSY = """
agents:
  coder:
    script:
      - on: "The attempt before this was interrupted. It had called: channel_send"
        in: prompt
        say: dropped for $message
      - {on: slowly, calls: [{channel_send: {message: I have begun}}], hang: true}
"""


async def test_who_is_busy_drops_it_for_a_message_that_must_be_read_now(house: House) -> None:
    async with house.serving(BUSY):
        await house.moot("send", "@coder go slowly")
        await house.until_said("I have begun")
        waiting = await house.json("send", "@coder fire", "--now")
        assert (waiting["recipients"], waiting["interrupted"]) == (["coder"], ["coder"])
        await house.until_said("dropped for @coder fire")
        assert (await house.json("send", "@human only me", "--now"))["interrupted"] == []
    kinds = [one["kind"] for one in await house.json("log", "--events")]
    assert [kind for kind in kinds if kind.startswith("attempt_")] == [
        "attempt_started", "attempt_interrupted", "attempt_started", "attempt_succeeded"
    ]  # fmt: skip
    assert await house.json("inbox", "coder") == []


async def test_a_second_host_of_one_project_shares_the_work(house: House) -> None:
    async with house.serving(GREETER), house.serving(GREETER):
        assert "Hello @human!" in await house.moot("send", "hello @greeter", "--wait")
    bodies = [one["message"] for one in await house.json("log")]
    assert bodies.count("Hello @human!") == 1


@pytest.mark.chaos  # like the tests of the command itself, but for the folder
async def test_the_demo_ends_well_and_leaves_the_folder_as_it_was(house: House) -> None:
    before = sorted(house.root.rglob("*"))
    printed = await house.moot("demo")
    assert "Done: empty passwords are refused" in printed
    assert "3 agents · 6 messages · $0.00 · notes.md" in printed
    assert sorted(house.root.rglob("*")) == before


async def test_a_repeated_attempt_over_mcp_says_nothing_twice(house: House) -> None:
    agent = """
agents:
  mel:
    transport: mcp
    script:
      - {on: go, calls: [channel_send: {message: once}], fail: oops, fails: 1}
"""
    (house.root / ".moot" / "config.yaml").write_text("retry: {backoff: 10ms}")
    async with house.serving(agent):
        await house.moot("send", "@mel go")
        await until_event(house, "attempt_succeeded")
    assert [one["message"] for one in await house.json("log")] == ["@mel go", "once"]


@pytest.mark.chaos
async def test_a_host_whose_store_is_taken_away_ends_and_says_so(house: House) -> None:
    async with house.serving(GREETER) as process:
        shutil.rmtree(house.root / ".workflow")
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 1


async def until_said(house: House, words: str) -> None:
    async with asyncio.timeout(SECONDS):
        while words not in await house.moot("log"):
            pass


async def until_event(house: House, kind: str) -> None:
    async with asyncio.timeout(SECONDS):
        while kind not in await house.moot("log", "--events"):
            pass
