"""The real Claude Code leads a team from outside by one MCP entry, and permits what its worker asks, another one."""

import asyncio
import json
import re
import sys

import pytest

from tests import fake_models
from tests.clis.cli_house import CliHouse
from tests.clis.subjects import CANARY
from tests.fake_models import Answer, Asked, FakeModels, call, say
from tests.stories.house import SECONDS
from tests.workspaces.repos import Repo

pytestmark = pytest.mark.clis

CREW = """
name: crew
team: {{workers: [worker-1]}}
agents:
  lead: {{backend: external}}
  reviewer-1: {{backend: scripted, script: [{{on: Review round, calls: [{{review_report: {{verdict: approved}}}}]}}]}}
  worker-1: {{backend: claude, model: claude-sonnet-4-5, base_url: "{url}", env: [ANTHROPIC_API_KEY]}}
"""
# The model that is played here does not search for tools, and does not wait for those that come late.
AT_ONCE = {"ENABLE_TOOL_SEARCH": "false", "MCP_CONNECTION_NONBLOCKING": "0"}
PROMPT = "Lead the team to its end."
COMMAND = "echo hello > hello.txt && git add hello.txt && git commit -qm hello"
HANDOFF = "done: hello.txt; evidence: cat hello.txt; risk: none; next: merge"


def lead(asked: Asked) -> Answer:
    """Does what its inbox says, acknowledges it, and looks again."""
    check, ack = asked.tool("inbox_check"), asked.tool("inbox_ack")
    if not asked.results or asked.results[-1].name == ack:
        is_over = asked.has_called(asked.tool("review_report"))
        return say("The team is done.") if is_over else call(check, wait_seconds=20)
    mail = asked.result_of(check) or ""
    if asked.results[-1].name == check:
        return heeded(asked, mail) or call(check, wait_seconds=20)
    return call(ack, until=re.findall(r"ms_[0-9a-z]{20}", mail)[-1])


def heeded(asked: Asked, mail: str) -> Answer | None:
    if found := re.search(r"\[GOAL\][\s\S]*workflow (wf_\w+)", mail):
        return call(asked.tool("workflow_set_plan"), id=found[1], plan={"tasks": [{"name": "hello"}]})
    if found := re.search(r"\[REQUEST:(rq_\w+)\] Bash: echo hello", mail):
        return call(asked.tool("request_respond"), request_id=found[1], approve=True)
    if "Review round" in mail:
        return call(asked.tool("review_report"), verdict="approved")
    return None


def worker(asked: Asked) -> Answer:
    if asked.result_of("Bash") is None:
        return call("Bash", command=COMMAND, description="say hello")
    return say(HANDOFF)


async def ran(house: CliHouse, server: FakeModels, *words: str) -> str:
    """What the program printed, called as a person would call it."""
    more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": CANARY, **AT_ONCE}
    process = await asyncio.create_subprocess_exec(
        "claude",
        *words,
        cwd=house.root,
        env={**house.environment, **more},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(2 * SECONDS):
        out, error = await process.communicate()
    assert process.returncode == 0, (out.decode(), error.decode())
    return out.decode()


async def test_claude_code_leads_a_team_and_permits_what_its_worker_asks(house: CliHouse) -> None:
    async with fake_models.serve(lambda asked: lead(asked) if PROMPT in asked.text else worker(asked)) as server:
        house.write(server, CREW)
        (house.root / ".gitignore").write_text("home/\n")
        await house.moot("team", "setup")
        up = await house.start("team", "up", "say hello", "--file", "team.yaml", "--json")
        try:
            assert up.stdout is not None
            while json.loads(await up.stdout.readline())["type"] != "expected":
                pass
            entry = ("--", sys.executable, "-m", "moot", "mcp", "--as", "lead@team")
            await ran(house, server, "mcp", "add", "moot", *entry)
            assert await ran(house, server, "-p", PROMPT, "--allowedTools", "mcp__moot") == "The team is done.\n"
            async with asyncio.timeout(SECONDS):
                out, _ = await up.communicate()
            assert up.returncode == 0, out.decode()
        finally:
            await house.end(up)
    (team,) = await house.json("team", "status")
    assert (team["stage"], team["round"]) == ("done", 1)
    control = json.loads((house.root / ".codex-teams" / "team" / "control.json").read_text())
    assert [(one["type"], one["to"], one["status"], one["answered_by"]) for one in control["requests"]] == [
        ("permission", "lead", "approved", "lead")
    ]
    assert Repo(house.root).show("moot/team/worker-1:hello.txt") == "hello"
