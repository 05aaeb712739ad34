"""A lead from outside joins by one MCP entry: it sees its inbox, plans, answers and judges, and can do nothing else."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any, cast

from mcp import Client

from tests.stories.house import SECONDS, House
from tests.workspaces.repos import Repo

EXAMPLE = Path(__file__).parents[2] / "examples" / "team"
REFUSED = {"task_claim", "workspace_create", "workspace_merge", "agent_register", "task_set_plan", "workflow_create"}


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return cast(dict[str, Any], result.structured_content)


async def mail(client: Client, wanted: str) -> str:
    """The next mail, read and acknowledged; it is this one."""
    while not (found := (await call(client, "inbox_check", wait_seconds=20))["messages"]):
        pass
    entry = found[0]["entry"]
    await call(client, "inbox_ack", until=entry["id"])
    assert wanted in entry["message"], entry
    return str(entry["message"])


async def test_a_client_leads_a_team_from_the_goal_to_the_merge(house: House) -> None:
    shutil.copytree(EXAMPLE, house.root, dirs_exist_ok=True)
    (house.root / ".gitignore").write_text("home/\n", encoding="utf-8")
    await house.moot("team", "setup")
    up = await house.start("team", "up", "say hello", "--file", "team.yaml", "--lead", "external",
                           "--no-approve-plan", "--workers", "2", "--json")  # fmt: skip
    try:
        assert up.stdout is not None
        while json.loads(await up.stdout.readline())["type"] != "expected":
            pass
        async with house.client("--as", "lead@team") as lead:
            offered = {tool.name for tool in (await lead.list_tools()).tools}
            assert {"workflow_set_plan", "review_report", "request_respond", "inbox_check", "channel_send"} <= offered
            assert offered.isdisjoint(REFUSED)
            for tool in sorted(REFUSED):
                refused = await lead.call_tool(tool, {})
                assert refused.is_error
                assert "NOT_ALLOWED" in str(refused.content)
            goal = await mail(lead, "[GOAL] say hello")
            id = (re.search(r"workflow (wf_\w+)", goal) or [""])[1]
            mine = {"name": "mine", "assigned_agent": "lead"}
            wrong = await lead.call_tool("workflow_set_plan", {"id": id, "plan": {"tasks": [mine]}})
            assert "given to lead, who is no worker of the team" in str(wrong.content)
            early = await lead.call_tool("review_report", {"verdict": "approved"})
            assert "REVIEW_REFUSED: Nobody has asked lead for a review now." in str(early.content)
            tasks = [
                {"name": "german", "assigned_agent": "worker-1"},
                {"name": "italian", "assigned_agent": "worker-2"},
            ]
            await call(lead, "workflow_set_plan", id=id, plan={"summary": "two", "tasks": tasks})
            await mail(lead, "there is no Italian dictionary here")
            await call(lead, "channel_send", message="take Ciao", to=["worker-2"], kind="answer")
            await mail(lead, "Review round 1")
            found = await call(lead, "document_read", file="review-1.md")
            assert "+Ciao" in found["content"]
            late = await lead.call_tool("workflow_add_tasks", {"id": id, "tasks": [{"name": "more"}]})
            assert "TEAM_REFUSED: The team is reviewing: its plan stays as it is." in str(late.content)
            assert (await call(lead, "review_report", verdict="approved"))["verdict"] == "approved"
            await mail(lead, "Review round 2")
            await call(lead, "review_report", verdict="approved")
            async with asyncio.timeout(SECONDS):
                assert await up.wait() == 0
    finally:
        if up.returncode is None:
            up.kill()
        await up.communicate()
    (team,) = await house.json("team", "status")
    assert (team["stage"], team["round"]) == ("done", 2)
    assert Repo(house.root).show("moot/team/worker-1:words/it.txt") == "Ciao"


ASKING = """
name: asking
team: {}
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


async def test_what_a_session_asks_is_permitted_once_by_the_lead_over_mcp(house: House) -> None:
    """Nobody sits at a terminal: the lead answers for the person."""
    (house.root / "team.yaml").write_text(ASKING)
    (house.root / ".gitignore").write_text("home/\n")
    await house.moot("team", "setup")
    up = await house.start("team", "up", "say hello", "--file", "team.yaml", "--json")
    try:
        async with house.client("--as", "lead@team") as lead, house.client("--as", "guest@team") as guest:
            goal = await mail(lead, "[GOAL] say hello")
            id = (re.search(r"workflow (wf_\w+)", goal) or [""])[1]
            await call(lead, "workflow_set_plan", id=id, plan={"tasks": [{"name": "hello"}]})
            asked = await mail(lead, "file_write: hello.txt")
            request = (re.search(r"rq_\w+", asked) or [""])[0]
            wrong = await guest.call_tool("request_respond", {"request_id": request, "approve": True})
            assert "NOT_ADDRESSEE" in str(wrong.content)
            given = {"request_id": request, "approve": True}
            both = await asyncio.gather(*(lead.call_tool("request_respond", given) for _ in range(2)))
            assert sorted(one.is_error or False for one in both) == [False, True]
            assert "REQUEST_CLOSED" in str([one.content for one in both])
            await mail(lead, "Review round 1")
            await call(lead, "review_report", verdict="approved")
            async with asyncio.timeout(SECONDS):
                assert await up.wait() == 0
    finally:
        if up.returncode is None:
            up.kill()
        await up.communicate()
    assert Repo(house.root).show("moot/team/worker-1:hello.txt") == "hello"
