"""What a team leaves behind for people and programs that look on: mailboxes, requests, files, through the program."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from moot.api.connection import Connection
from tests.cli.terminal import Terminal
from tests.stories.house import House
from tests.views import shown

EXAMPLE = Path(__file__).parents[2] / "examples" / "team"
GOAL = "say hello in German, French and Italian"
SECONDS = 60.0
# A lead from outside, and a worker that takes what it is asked.
OUTSIDE = r"""
name: outside
agents:
  lead: {backend: external}
  reviewer-1: {backend: scripted, script: [{on: ., say: well}]}
  worker-1:
    backend: scripted
    script:
      - on: '\[REQUEST:(rq_\w+)\] (shut down|look only)'
        calls:
          - request_respond: {request_id: $1, approve: true, answer: as you wish}
      - on: ask me
        calls:
          - request_create: {to: lead, type: plan_approval, title: my plan, body: first the tests}
      - on: '\[(APPROVED|DENIED):'
        say: 'it was $1'
      - {on: ., say: well}
team: {workers: [worker-1]}
"""


@pytest.fixture
def project(terminal: Terminal) -> Terminal:
    """The example in a folder of its own, ready for a team."""
    shutil.copytree(EXAMPLE, terminal.folder, dirs_exist_ok=True)
    (terminal.folder / ".gitignore").write_text("home/\n", encoding="utf-8")
    terminal.ok("team", "setup")
    return terminal


def check(project: Terminal, session: str = "team") -> None:
    """The files show what the store says."""

    async def compared(connection: Connection) -> None:
        await shown.check(connection.store, project.folder, session)

    project.act(compared)


def spoil(project: Terminal) -> None:
    for number, name in enumerate(sorted(shown.paths(project.folder, "team"))):
        file = shown.folder(project.folder, "team") / name
        if number % 2:
            file.unlink()
        else:
            file.write_bytes(b'{"requests": [], "approve": true}')


def test_the_files_of_a_team_are_what_the_store_says_at_every_halt(project: Terminal) -> None:
    created = project.ok("team", "create", GOAL, "--file", "team.yaml", "--json").json
    assert created["name"] == "team"
    check(project)
    waiting = project.run("team", "up", GOAL, "--file", "team.yaml", "--json")
    assert waiting.code == 4, waiting
    check(project)
    (asked,) = shown.read(project.folder, "team", "control.json")["requests"]
    assert (asked["type"], asked["status"]) == ("plan_approval", "pending")
    spoil(project)  # nothing of it is believed
    project.ok("approve", asked["request_id"])
    check(project)  # also where no host is there to see to it
    project.ok("send", "--instance", "team", "--to", "lead", "well done")
    check(project)
    spoil(project)
    project.ok("resume", "@team")
    check(project)
    spoil(project)
    project.ok("team", "status")
    check(project)
    state = shown.read(project.folder, "team", "state.json")
    assert (state["stage"], {one["presence"] for one in state["members"].values()}) == ("done", {"offline"})
    assert {one["unread"] for name, one in state["members"].items() if name != "human"} == {0}
    spoil(project)
    project.ok("export")
    check(project)
    project.ok("team", "delete")
    assert shown.paths(project.folder, ".") == set()


def test_whoever_finds_the_host_and_the_lead_killed_puts_the_files_right(project: Terminal) -> None:
    how = ("--lead", "external", "--no-approve-plan", "--workers", "1", "--json")
    host = project.start("team", "up", GOAL, "--file", "team.yaml", *how)
    lead = subprocess.Popen(
        project.argv("mcp", "--as", "lead@team"), cwd=project.folder, env=project.env(), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert host.stdout is not None
        while b"online: lead" not in (line := host.stdout.readline()):
            assert line
    finally:
        for one in (host, lead):
            one.kill()
            one.communicate()
    project.ok("status")
    said = [one["message"] for one in project.ok("log", "--instance", "team", "-n", "100", "--json").json]
    assert "offline: lead (lead, external)" in said
    check(project)


def test_a_blocker_and_its_answer_stand_in_the_mailboxes_as_the_protocol_has_them(project: Terminal) -> None:
    project.ok("team", "up", GOAL, "--file", "team.yaml", "--no-approve-plan")
    lead = project.ok("team_mailbox.sh", "--session", "team", "inbox", "lead", "--json").json
    (blocker,) = [one for one in lead if one["kind"] == "blocker"]
    assert blocker["message"].endswith("\n\nWorkaround: the word that the French neighbours use for it, Ciao")
    worker = project.ok("team_mailbox.sh", "--mode", "fs", "inbox", "worker-3", "--json").json
    (answer,) = [one for one in worker if one["kind"] == "answer"]
    assert (answer["reply_to"], answer["from"], answer["read"]) == (blocker["id"], "lead", True)
    assert all(one["read"] for one in (*lead, *worker))
    monitored = [one["message"] for one in project.ok("team_mailbox.sh", "inbox", "monitor", "--json").json]
    assert [one.split(" (")[0] for one in monitored if one.startswith("online")] == [
        f"online: {name}" for name in ("lead", "reviewer-1", "worker-1", "worker-2", "worker-3")
    ]


def test_a_team_without_views_leaves_no_files(project: Terminal) -> None:
    project.ok("team", "up", GOAL, "--file", "team.yaml", "--no-approve-plan", "--views", "off")
    assert not (project.folder / ".codex-teams").exists()


@pytest.fixture
async def outside(house: House) -> House:
    """A project whose team has a lead from outside."""
    (house.root / "team.yaml").write_text(OUTSIDE)
    await house.moot("team", "setup")
    return house


async def call(client: Client, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, dict(arguments))
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content or {}
    return found


async def answer(client: Client, kind: str) -> dict[str, Any]:
    """The next mail of this kind that comes to the lead."""
    seen: set[str] = set()
    async with asyncio.timeout(SECONDS):
        while True:
            found = await call(client, "inbox_check", {"wait_seconds": 20})
            for one in (each["entry"] for each in found["messages"]):
                if one["id"] not in seen and one["kind"] == kind:
                    await call(client, "inbox_ack", {"until": one["id"]})
                    return one
                seen.add(one["id"])
            if found["messages"]:
                await call(client, "inbox_ack", {"until": found["messages"][-1]["entry"]["id"]})


async def test_a_lead_over_mcp_asks_answers_and_shuts_down_while_the_files_follow(outside: House) -> None:
    process = await outside.start("team", "up", "a goal", "--file", "team.yaml", "--json")
    try:
        async with outside.client("--as", "lead@team") as lead:
            await answer(lead, "task")  # the goal
            await call(lead, "channel_send", {"message": "ask me", "to": ["worker-1"]})
            asked = await answer(lead, "plan_approval_request")
            id = asked["message"].split("]")[0].removeprefix("[REQUEST:")
            await call(lead, "request_respond", {"request_id": id, "approve": True})
            mode = {"to": "worker-1", "type": "mode_set", "mode": "read-only", "title": "look only"}
            await call(lead, "request_create", mode)
            await answer(lead, "mode_set_response")
            await call(lead, "request_create", {"to": "worker-1", "type": "shutdown", "title": "shut down"})
            told = await answer(lead, "shutdown_approved")
            assert told["message"].endswith("as you wish")
            (mine,) = [one for one in await outside.json("list", "--instance", "team") if one["name"] == "worker-1"]
            assert mine["status"] == "stopped"
            inbox = json.loads(await outside.moot("inbox", "worker-1@team", "--mode", "fs", "--json"))
            assert inbox == []
            config = json.loads((outside.root / ".codex-teams/team/config.json").read_text())
            (worker,) = [one for one in config["members"] if one["name"] == "worker-1"]
            assert worker["permissions"] == "read-only"
        await outside.moot("team", "down")
        async with asyncio.timeout(SECONDS):
            await process.communicate()
        said = await outside.json("log", "--instance", "team", "-n", "200")
        statuses = [
            one["message"].split(" (")[0] for one in said if one["from"] == "system" and one["kind"] == "status"
        ]
        for name in ("lead", "worker-1"):
            assert [one for one in statuses if one.endswith(f": {name}")] == [f"online: {name}", f"offline: {name}"]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
