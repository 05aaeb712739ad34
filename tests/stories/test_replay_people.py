"""What people and agents from outside did in a run, by whatever way, is done again in its replay, at its place."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.stories.house import SECONDS, House
from tests.stories.test_house import BUSY
from tests.stories.test_outside import call

PASSING = re.compile(
    r"\b[a-z]{2,5}_[0-9a-z]{20}\b|\b(?:prop|doc-owner)-\d{3}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d UTC"
)
LIKE = "the replay is like the recording"
# The run waits for ben, who is from outside, so that there is time for everybody else.
TEAM = """
name: team
context: {document_owner: none}
agents:
  ben: {backend: external}
  ana: {backend: human}
  coder:
    script:
      - on: begin
        calls:
          - {document_append: {content: "coder\\n"}}
          - proposal_create: {type: decision, title: Colour, options: [{id: red, label: red}, {id: blue, label: blue}],
                              electors: [human, coder], timeout_seconds: 3000}
          - {request_create: {to: human, title: Ship it?, type: plan_approval}}
          - {request_create: {to: human, title: To whom?}}
        say: "I have asked."
      - {on: "The person says", calls: [{document_append: {content: "heard\\n"}}], say: "heard"}
      - {on: "ana says", say: "ana is heard"}
kickoff: "@ben @coder begin"
"""
WAITING = """
name: waiting
agents:
  ben: {backend: external}
  coder: {script: [{on: begin, say: "begun"}, {on: "go on", takes: 60s}]}
kickoff: "@ben @coder begin"
"""


@asynccontextmanager
async def recorded(house: House, text: str, *words: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A run under way, on the record; the block does what is to happen in it, and leads to its end."""
    (house.root / "w.yaml").write_text(text)
    process = await house.start("run", "w.yaml", "--record", "tape.jsonl", *words, stderr=asyncio.subprocess.PIPE)
    try:
        yield process
        async with asyncio.timeout(SECONDS):
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def replayed(house: House, *, code: int) -> str:
    """What the replay said about itself."""
    process = await house.start("run", "w.yaml", "--instance", "again", "--replay", "tape.jsonl", stderr=-1)
    try:
        async with asyncio.timeout(SECONDS):
            out, error = await process.communicate()
    finally:
        if process.returncode is None:  # it waits for something
            process.kill()
            await process.wait()
    assert process.returncode == code, (process.returncode, out.decode(), error.decode())
    return error.decode()


async def result(house: House, instance: str) -> dict[str, Any]:
    """What came of a run, without ids and times."""
    where = ("--instance", instance)
    said = [[one["from"], one["message"], one["mentions"], one["kind"]] for one in await house.json("log", *where)]
    votes = [[one["status"], one.get("result")] for one in await house.json("vote", "--all", *where)]
    asked = [[one["title"], one["state"], one["answer"]] for one in await house.json("request", "--all", *where)]
    shown = [
        [one["file"], one["author"], (await house.json("doc", "show", one["file"], *where))["content"]]
        for one in await house.json("doc", *where)
    ]
    found = {"said": said, "votes": votes, "requests": asked, "documents": shown}
    return json.loads(PASSING.sub("…", json.dumps(found)))


async def until(house: House, text: str, *words: str) -> None:
    async with asyncio.timeout(SECONDS):
        while text not in await house.moot(*words):
            pass


async def until_begun(house: House, count: int) -> None:
    async with asyncio.timeout(SECONDS):
        while (await house.moot("log", "--events")).count("attempt_started") < count:
            pass


async def ben_is_done(house: House) -> None:
    async with house.client("--as", "ben@default") as ben:
        found = await call(ben, "inbox_check", wait_seconds=50)
        await call(ben, "channel_send", message="I was outside.")
        await call(ben, "inbox_ack", until=found["messages"][-1]["entry"]["id"])


async def test_what_people_did_without_tools_is_done_again(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, TEAM) as run:
            await house.until_said("I have asked.")
            await house.moot("vote", "prop-001", "blue", "--reason", "it is calm")
            asked = {one["title"]: one["id"] for one in await house.json("request")}
            await house.moot("approve", asked["Ship it?"], "--text", "with care")
            await house.moot("approve", asked["To whom?"], "--text", "to everybody")
            (house.root / ".workflow" / "default" / "plan.md").write_text("a plan\n")
            await until(house, "plan.md", "doc")
            await house.moot("send", "@coder The person says hello")
            await house.until_said("heard")
            await house.moot("send", "--as", "ana", "@coder ana says hello")
            await house.until_said("ana is heard")
            await house.moot("vote", "prop-001", "--cancel", "--reason", "no time")
            await house.moot("doc", "rm", "plan.md")
            await house.moot("inbox", "--ack")
            await ben_is_done(house)
        assert run.returncode == 0
        first = await result(house, "default")
        assert ["Ship it?", "approved", "with care"] in first["requests"]
        assert LIKE in await replayed(house, code=0)
        assert await result(house, "again") == first


@pytest.mark.chaos
async def test_an_agent_that_joined_by_itself_is_played(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, TEAM) as run:
            await house.until_said("I have asked.")
            async with house.client("--as", "guest@default") as guest:
                await call(guest, "channel_send", message="@coder The person says: I am a guest")
                await call(guest, "document_write", file="guest.md", content="was here\n")
            await house.until_said("heard")
            for one in await house.json("request"):
                await house.moot("deny", one["id"])
            await house.moot("vote", "prop-001", "--cancel")
            await house.moot("inbox", "--ack")
            await ben_is_done(house)
        assert run.returncode == 0
        assert LIKE in await replayed(house, code=0)
        assert await result(house, "again") == await result(house, "default")


@pytest.mark.parametrize("words", [pytest.param(("stop",), marks=pytest.mark.chaos), ("stop", "--now")])
async def test_a_run_that_was_stopped_is_stopped_again(house: House, words: tuple[str, ...]) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, WAITING) as run:
            await house.until_said("begun")
            if "--now" in words:
                await house.moot("send", "@coder go on")
                await until_begun(house, 2)
            await house.moot(*words, "@default")
        assert run.returncode == 130
        assert LIKE in await replayed(house, code=130)
        assert await result(house, "again") == await result(house, "default")


@pytest.mark.chaos
async def test_what_was_dropped_for_an_urgent_message_is_dropped_again(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, f"context: {{document_owner: none}}{BUSY}kickoff: '@coder go slowly'") as run:
            await house.until_said("I have begun")
            await house.moot("send", "@coder fire", "--now")
        assert run.returncode == 0
        assert LIKE in await replayed(house, code=0)
        assert await result(house, "again") == await result(house, "default")


@pytest.mark.chaos
async def test_a_pause_is_made_again(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, WAITING.replace(", takes: 60s", ", say: gone on")) as run:
            await house.until_said("begun")
            await house.moot("pause")
            await house.moot("send", "@coder go on")
            await house.moot("resume")
            await house.until_said("gone on")
            await ben_is_done(house)
        assert run.returncode == 0
        assert LIKE in await replayed(house, code=0)
        assert await result(house, "again") == await result(house, "default")


async def test_a_run_that_was_interrupted_ends_the_same_way(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, WAITING) as run:
            await house.until_said("begun")
            run.send_signal(signal.SIGINT)
        assert run.returncode == 130
        assert LIKE in await replayed(house, code=130)
        assert await result(house, "again") == await result(house, "default")


async def test_a_recording_that_was_killed_is_played_up_to_there(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, WAITING) as run:
            await house.until_said("begun")
            await house.moot("send", "@coder go on")
            tape = house.root / "tape.jsonl"
            while '"body":"@coder go on"' not in tape.read_text():
                assert run.returncode is None
                await house.moot("list")
            run.kill()
        with tape.open("ab") as file:
            file.write(b'{"type":"said","se')  # what a killed process may leave
        told = await replayed(house, code=1)
        assert "drift: the recording was cut here" in told
        assert told.count("drift") == 1, told
        said = [one["message"] for one in await house.json("log", "--instance", "again")]
        assert said == ["@ben @coder begin", "begun", "@coder go on"]


async def test_a_replay_that_waits_for_somebody_says_so_and_ends(house: House) -> None:
    async with asyncio.timeout(3 * SECONDS):
        async with recorded(house, WAITING.replace("@ben @coder", "@coder")) as run:
            pass
        assert run.returncode == 0
        (house.root / "w.yaml").write_text(WAITING)
        told = await replayed(house, code=1)
        assert "drift: the run waits for ben, and the recording has nothing more" in told
