"""The task protocol by real MCP clients over `moot mcp`: the whole life of an agent, two who want the same task, and
somebody who takes up what a killed one has left."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import psutil
import pytest
from mcp import Client

from tests.processes import wait_for_end
from tests.stories.house import SECONDS, House

TASKS: list[dict[str, Any]] = [
    {"name": "setup", "description": "Install passport.", "files_likely_affected": ["package.json"]},
    {"name": "google", "description": "Google login.", "depends_on": ["setup"], "parallel_group": "logins"},
    {"name": "github", "description": "GitHub login.", "depends_on": ["setup"], "parallel_group": "logins"},
    {"name": "tests", "description": "See that all log in.", "depends_on": ["google", "github"]},
]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return cast(dict[str, Any], result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The code of an error, as a client reads it."""
    async with asyncio.timeout(SECONDS):
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content)


async def register(client: Client, name: str) -> str:
    made = await call(client, "agent_register", name=name, runtime="claude_code", capabilities=["typescript"])
    assert (made["name"], made["status"]) == (name, "online")
    return made["id"]


async def planned(client: Client) -> tuple[str, dict[str, str]]:
    """A workflow with its plan, and the ids of its tasks."""
    made = await call(
        client, "workflow_create", name="OAuth", source_type="prompt", source_content="Add OAuth", max_parallel_tasks=2
    )
    assert made["status"] == "planning"
    plan = {"summary": "Log in with others.", "approach": "passport", "tasks": TASKS}
    answer = await call(client, "workflow_set_plan", id=made["id"], plan=plan)
    assert (answer["tasks_created"], answer["status"]) == (4, "ready")
    assert answer["parallelizable_groups"] == ["logins"]
    seen = await call(client, "workflow_get", id=made["id"])
    return made["id"], {task["name"]: task["id"] for task in seen["tasks"]}


async def do(client: Client, agent: str, task: str, outcome: str) -> None:
    assert (await call(client, "task_claim", task_id=task, agent_id=agent))["success"] is True
    await call(client, "task_update_status", id=task, status="completed", outcome=outcome)


async def test_an_agent_goes_through_all_steps_of_the_protocol(house: House) -> None:
    async with house.client() as client:
        agent = await register(client, "worker-1")
        workflow, ids = await planned(client)
        offered = await call(client, "workflow_next_tasks", workflow_id=workflow)
        assert [task["name"] for task in offered["tasks"]] == ["setup"]
        assert (offered["max_parallel"], offered["recommended_count"], offered["all_complete"]) == (2, 1, False)
        claimed = await call(client, "task_claim", task_id=ids["setup"], agent_id=agent)
        assert claimed["success"] is True
        context = await call(
            client,
            "task_load_context",
            task_id=ids["setup"],
            include={
                "workflow_plan": True,
                "prior_task_outcomes": True,
                "dependency_outcomes": True,
                "recent_checkpoints": 5,
            },
            max_tokens=8000,
        )
        assert context["workflow"]["summary"] == "Log in with others."
        assert [task["name"] for task in context["workflow"]["tasks"]] == ["setup", "google", "github", "tests"]
        await call(client, "task_set_plan", id=ids["setup"], plan={"approach": "npm", "steps": ["install", "wire"]})
        await call(client, "task_update_status", id=ids["setup"], status="in_progress")
        await call(
            client,
            "checkpoint_add",
            task_id=ids["setup"],
            type="progress",
            summary="installed",
            files_changed=["package.json"],
        )
        beat = await call(client, "agent_heartbeat", agent_id=agent, current_task_id=ids["setup"], status="busy")
        assert (beat["success"], beat["next_heartbeat_ms"]) == (True, 30000)
        assert "INVALID_INPUT" in await refused(client, "task_update_status", id=ids["setup"], status="completed")
        done = await call(
            client,
            "task_update_status",
            id=ids["setup"],
            status="completed",
            outcome="passport is there",
            outcome_detail={"files_created": ["src/auth.ts"]},
        )
        assert done == {"success": True, "status": "completed"}
        assert "INVALID_TRANSITION" in await refused(client, "task_update_status", id=ids["setup"], status="skipped")
        for name in ("google", "github"):
            told = await call(client, "task_load_context", task_id=ids[name])
            assert [one["outcome"] for one in told["dependency_outcomes"]] == ["passport is there"]
            await do(client, agent, ids[name], f"{name} logs in")
        await do(client, agent, ids["tests"], "all green")
        after = await call(client, "workflow_next_tasks", workflow_id=workflow)
        assert (after["tasks"], after["all_complete"], after["workflow_status"]) == ([], True, "completed")
        assert (await call(client, "agent_unregister", id=agent))["success"] is True
        assert "TASK_NOT_FOUND" in await refused(client, "task_load_context", task_id="tk_none")


async def test_of_two_clients_that_want_a_task_one_has_it_and_the_other_takes_the_next(house: House) -> None:
    async with house.client() as one, house.client() as two:
        first, second = await register(one, "a"), await register(two, "b")
        workflow, ids = await planned(one)
        await do(one, first, ids["setup"], "there")
        async with asyncio.timeout(SECONDS):
            answers = await asyncio.gather(
                call(one, "task_claim", task_id=ids["google"], agent_id=first),
                call(two, "task_claim", task_id=ids["google"], agent_id=second),
            )
        assert sorted(answer["success"] for answer in answers) == [False, True]
        is_first = answers[0]["success"]
        holder, other = ((one, first), (two, second)) if is_first else ((two, second), (one, first))
        (conflict,) = [answer for answer in answers if not answer["success"]]
        assert conflict["already_claimed_by"] == holder[1]
        code = await refused(other[0], "task_update_status", id=ids["google"], status="completed", outcome="mine")
        assert "CLAIM_LOST" in code
        offered = await call(other[0], "workflow_next_tasks", workflow_id=workflow)
        assert [task["name"] for task in offered["tasks"]] == ["github"]
        await do(other[0], other[1], ids["github"], "github logs in")
        await call(holder[0], "task_update_status", id=ids["google"], status="completed", outcome="google logs in")
        blocked = await call(one, "task_check_dependencies", id=ids["tests"])
        assert (blocked["can_start"], blocked["waiting_on"]) == (True, [])


@asynccontextmanager
async def mortal(house: House, *arguments: str) -> AsyncGenerator[tuple[Client, psutil.Process]]:
    """A client whose `moot mcp` may be killed."""
    me = psutil.Process()
    before = set(me.children())
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(house.client(*arguments))
        (process,) = [one for one in me.children() if one not in before]
        yield client, process


@pytest.mark.parametrize("is_served_by_it", [True, False], ids=["the one that serves", "one that is served"])
async def test_somebody_takes_up_what_a_killed_agent_has_left(house: House, is_served_by_it: bool) -> None:
    async with AsyncExitStack() as stack:
        if is_served_by_it:
            dying, process = await stack.enter_async_context(mortal(house))
            heir = await stack.enter_async_context(house.client())
        else:
            heir = await stack.enter_async_context(house.client())
            dying, process = await stack.enter_async_context(mortal(house))
        before, after = await register(dying, "before"), await register(heir, "after")
        workflow, ids = await planned(dying)
        await do(dying, before, ids["setup"], "there")
        await call(dying, "task_claim", task_id=ids["google"], agent_id=before)
        await call(dying, "task_set_plan", id=ids["google"], plan={"approach": "passport-google", "steps": ["a", "b"]})
        for number in range(8):
            await call(dying, "checkpoint_add", task_id=ids["google"], type="progress", summary=f"step {number}")
        process.send_signal(signal.SIGKILL)
        wait_for_end(process.pid, SECONDS)

        listed = await call(heir, "workflow_list", status=["in_progress"])
        assert [one["id"] for one in listed["workflows"]] == [workflow]
        progress = await call(heir, "workflow_progress", workflow_id=workflow)
        (current,) = progress["current_tasks"]
        assert (current["id"], current["claimed_by"]) == (ids["google"], before)
        context = await call(heir, "task_load_context", task_id=current["id"], include={"all_checkpoints": True})
        assert [one["summary"] for one in context["current_task"]["checkpoints"]] == [f"step {n}" for n in range(8)]
        assert context["current_task"]["plan"]["approach"] == "passport-google"
        async with asyncio.timeout(SECONDS):
            # As soon as a neighbour has seen that its process is gone, long before its lease runs out.
            while not (claimed := await call(heir, "task_claim", task_id=ids["google"], agent_id=after))["success"]:
                assert claimed["already_claimed_by"] == before
        await call(heir, "checkpoint_add", task_id=ids["google"], type="recovery", summary="went on from step 7")
        await call(heir, "task_update_status", id=ids["google"], status="completed", outcome="google logs in")
        await do(heir, after, ids["github"], "github logs in")
        await do(heir, after, ids["tests"], "all green")
        assert (await call(heir, "workflow_progress", workflow_id=workflow))["workflow_status"] == "completed"
    ended = [one for one in await house.json("log", "--events") if one["kind"] == "task_status"]
    assert [one["data"]["name"] for one in ended] == ["setup", "google", "github", "tests"]
