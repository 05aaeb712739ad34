"""Programs as agents in whole runs: they hear of mail while they work, fail in words, and leave nothing behind."""

import asyncio
import os
import signal
from pathlib import Path

from moot.process import identity
from tests.stories.house import SECONDS, House

# Begins, and works on until it is told to stop; each look at its inbox is what it would do between two steps.
ATTENTIVE = """
name: attentive
context: {document_owner: none}
agents:
  worker:
    backend: command
    command: |
      set -e
      moot send "@boss I have begun."
      until moot inbox | grep -q "stop now"; do sleep 0.1; done
      echo "I have stopped."
  boss: {backend: scripted, script: [{on: begun, say: "@worker stop now, this is urgent"}]}
kickoff: "@worker begin"
"""
FAILING = """
name: failing
agents:
  worker:
    backend: command
    command: 'echo "no $MOOT_TOKEN" >&2; exit 7'
    retry: {attempts: 2, backoff: 10ms}
kickoff: "@worker begin"
"""
ENDLESS = """
name: endless
agents:
  worker:
    backend: command
    command: '(setsid sleep 600 & echo $! > child); echo $$ > parent; sleep 600'
kickoff: "@worker begin"
"""
IDLE = "name: idle\nagents: {ann: {backend: human}}\n"


async def test_a_program_that_looks_hears_of_mail_while_it_works(house: House) -> None:
    (house.root / "attentive.yaml").write_text(ATTENTIVE)
    await house.moot("run", "attentive.yaml")
    said = [(one["from"], one["message"]) for one in await house.json("log")]
    assert said[1:] == [("worker", "@boss I have begun."), ("boss", "@worker stop now, this is urgent")]
    events = await house.json("log", "--events", "-n", "1000")
    ids = {one["name"]: one["id"] for one in await house.json("list")}
    started = [one["data"]["agent"] for one in events if one["kind"] == "attempt_started"]
    assert started.count(ids["worker"]) == 1  # what it saw was acknowledged with its attempt
    assert await house.json("inbox", "worker") == []


async def test_a_program_that_fails_is_tried_again_and_its_token_told_to_nobody(house: House) -> None:
    (house.root / "failing.yaml").write_text(FAILING)
    await house.moot("run", "failing.yaml", code=1)
    events = await house.json("log", "--events", "-n", "1000")
    errors = [one["data"]["error"] for one in events if one["kind"] == "attempt_failed"]
    assert errors == ["/bin/sh: it failed with exit code 7\nno [hidden]"] * 2
    everything = b"".join(file.read_bytes() for file in (house.root / ".workflow").rglob("*") if file.is_file())
    assert b"moot_" not in everything.replace(b"moot_db", b"")


async def test_what_a_killed_moot_leaves_running_is_ended_by_the_next(house: House) -> None:
    (house.root / "endless.yaml").write_text(ENDLESS)
    (house.root / "idle.yaml").write_text(IDLE)
    run = await house.start("run", "endless.yaml")
    pids = [await _pid(house.root / name) for name in ("parent", "child")]
    os.kill(run.pid, signal.SIGKILL)
    await run.wait()
    assert [identity.of(pid) is not None for pid in pids] == [True, True]
    await house.moot("run", "idle.yaml", "--instance", "other")
    assert [identity.of(pid) for pid in pids] == [None, None]
    assert list((house.root / ".workflow" / "moot.private").iterdir()) == []


async def _pid(file: Path) -> int:
    """From a file that the program writes when it has begun."""
    async with asyncio.timeout(SECONDS):
        while not (file.exists() and file.read_text().strip()):  # noqa: ASYNC110  # another process's file
            await asyncio.sleep(0.05)
    return int(file.read_text())
