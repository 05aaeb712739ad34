"""The real Claude Code and the real Codex lead a team from outside by one MCP entry, and permit what workers ask."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import pytest

from tests import fake_models
from tests.clis.cli_house import CliHouse
from tests.clis.subjects import CANARY
from tests.fake_models import Answer, Asked, call, say
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
ASKING = """
name: crew
team: {workers: [worker-1]}
agents:
  lead: {backend: external}
  reviewer-1: {backend: scripted, script: [{on: Review round, calls: [{review_report: {verdict: approved}}]}]}
  worker-1:
    backend: scripted
    permissions: ask
    tools: [edit]
    answers:
      - calls: [{file_write: {path: hello.txt, content: hello}}]
      - say: "done: hello.txt; evidence: cat hello.txt; risk: none; next: merge"
"""
# The model that is played here does not search for tools, and does not wait for those that come late.
AT_ONCE = {"ENABLE_TOOL_SEARCH": "false", "MCP_CONNECTION_NONBLOCKING": "0", "MCP_TIMEOUT": "60000"}
ENTRY = ("--", sys.executable, "-m", "moot", "mcp", "--as", "lead@team")
# Nobody sits there who could say yes to every call of a tool, and it does not wait for those that come late.
EXEC = ("exec", "--skip-git-repo-check", "-m", "gpt-5", "-c", "analytics.enabled=false", "--disable", "plugins",
        "-c", 'mcp_servers.moot.default_tools_approval_mode="approve"', "-c", "mcp_servers.moot.required=true",
        "-c", "mcp_servers.moot.startup_timeout_sec=60")  # fmt: skip
PROVIDER = """model_providers.fake={{name="fake",base_url="{url}",env_key="OPENAI_API_KEY",wire_api="responses"}}"""
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
    if found := re.search(r"\[REQUEST:(rq_\w+)\] (?:Bash: echo hello|file_write: hello)", mail):
        return call(asked.tool("request_respond"), request_id=found[1], approve=True)
    if "Review round" in mail:
        return call(asked.tool("review_report"), verdict="approved")
    return None


def worker(asked: Asked) -> Answer:
    if asked.result_of("Bash") is None:
        return call("Bash", command=COMMAND, description="say hello")
    return say(HANDOFF)


async def ran(house: CliHouse, program: str, *words: str, more: Mapping[str, str]) -> str:
    """What the program printed, called as a person would call it."""
    process = await asyncio.create_subprocess_exec(
        program,
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


@asynccontextmanager
async def upright(house: CliHouse) -> AsyncGenerator[None]:
    """A team that waits for its lead; at the end of the block it is done."""
    (house.root / ".gitignore").write_text("home/\n")
    await house.moot("team", "setup")
    up = await house.start("team", "up", "say hello", "--file", "team.yaml", "--json")
    try:
        assert up.stdout is not None
        while json.loads(await up.stdout.readline())["type"] != "expected":
            pass
        yield
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


async def test_claude_code_leads_a_team_and_permits_what_its_worker_asks(house: CliHouse) -> None:
    async with fake_models.serve(lambda asked: lead(asked) if PROMPT in asked.text else worker(asked)) as server:
        house.write(server, CREW)
        more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": CANARY, **AT_ONCE}
        async with upright(house):
            await ran(house, "claude", "mcp", "add", "moot", *ENTRY, more=more)
            told = await ran(house, "claude", "-p", PROMPT, "--allowedTools", "mcp__moot", more=more)
            assert told == "The team is done.\n"


async def test_codex_leads_a_team_and_permits_what_its_worker_asks(house: CliHouse) -> None:
    async with fake_models.serve(lead) as server:
        (house.root / "team.yaml").write_text(ASKING)
        (house.root / "home").mkdir(exist_ok=True)
        where = ("-c", 'model_provider="fake"', "-c", PROVIDER.format(url=server.v1))
        more = {"OPENAI_API_KEY": CANARY}
        async with upright(house):
            await ran(house, "codex", "mcp", "add", "moot", *ENTRY, more=more)
            told = await ran(house, "codex", *EXEC, *where, PROMPT, more=more)
            assert told.strip() == "The team is done."
