"""A workflow of steps by real MCP clients over `moot mcp`: one who drives it, sub-agents with tokens of their own, and
somebody who goes on after a killed client."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest
from mcp import Client

from tests.stories.house import SECONDS, House

DEFINITION = """
name: "standards:fix"
description: Mend what the linter finds.
version: 1.0.0
inputs:
  pattern: {type: string, default: "*.ts", description: Which files}
default_state:
  raw: {batch_status: {}, results: {}, attempts: 0}
state_schema:
  raw: {git_files: array}
  computed:
    valid_files: {from: raw.git_files, transform: "input.filter(f => !f.endsWith('.d.ts'))"}
    batches:
      from: computed.valid_files
      transform: |
        input.reduce((all, file, at) => {
          const place = Math.floor(at / 2);
          (all[place] ||= []).push(file);
          return all;
        }, []).map((files, at) => ({id: `batch_${at}`, files}))
    ready_batches:
      from: [computed.batches, raw.batch_status]
      transform: input[0].filter(batch => (input[1][batch.id] || 'pending') === 'pending')
    fixes: {from: raw.results, transform: "Object.values(input).reduce((sum, n) => sum + n, 0)"}
steps:
  - {id: detect_files, type: shell_command, command: "echo x >> ran; ls | grep 'ts$'", output_format: lines,
     state_update: {path: raw.git_files}}
  - {id: choose, type: user_input, prompt: "Mend {{ valid_files.length }} files?", options: ["yes", "no"],
     state_update: {path: raw.choice}}
  - id: go
    type: conditional
    condition: "{{ choice == 'yes' }}"
    then:
      - {id: count, type: state_update, path: raw.attempts, operation: increment, value: 1}
      - {id: process_batches, type: parallel_foreach, items: "{{ ready_batches }}", sub_agent_task: mend}
  - {id: report, type: user_message, message: "Processed {{ valid_files.length }} files with {{ fixes }} fixes."}
sub_agent_tasks:
  mend:
    inputs: {batch_id: {type: string}, files: {type: array}}
    steps:
      - id: each
        type: foreach
        items: "{{ files }}"
        steps:
          - {id: fix, type: agent_shell_command, command: "fix {{ item }}", output_format: json,
             reason: It needs the agent's judgement, state_update: {path: "raw.results.{{ item }}"}}
      - {id: done, type: state_update, path: "raw.batch_status.{{ batch_id }}", value: complete}
"""
FILES = ("a.ts", "b.ts", "c.d.ts", "e f.ts")


@dataclass(frozen=True)
class Agent:
    """What an agent of this name does with the tools that it has; all else it leaves to the workflow."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return cast(dict[str, Any], result.structured_content)

    async def refused(self, tool: str, **arguments: Any) -> str:
        async with asyncio.timeout(SECONDS):
            result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return str(result.content)

    async def step(self, id: str, task: str | None = None) -> dict[str, Any] | None:
        context = {} if task is None else {"sub_agent_context": {"task_id": task}}
        found = await self.call("workflow_get_next_step", workflow_id=id, **context)
        return found["step"]

    async def complete(self, id: str, step: str, task: str | None = None, **more: Any) -> None:
        context = {} if task is None else {"sub_agent_context": {"task_id": task}}
        await self.call("workflow_step_complete", workflow_id=id, step_id=step, **context, **more)

    async def mend(self, id: str, task: str) -> list[str]:
        """A sub-agent: it asks for its next step until there is none."""
        seen: list[str] = []
        while (step := await self.step(id, task)) is not None:
            seen.append(step["id"])
            match step["type"]:
                case "agent_shell_command":
                    update = step["definition"]["state_update"]["path"]
                    updates = [{"path": update, "operation": "set", "value": len(seen)}]
                    await self.call("workflow_state_update", workflow_id=id, updates=updates)
                case _:
                    updates = step["definition"]["updates"]
                    await self.call("workflow_state_update", workflow_id=id, updates=updates)
            await self.complete(id, step["id"], task)
        return seen


@asynccontextmanager
async def agents(house: House, *names: str) -> AsyncGenerator[tuple[Agent, ...]]:
    async with AsyncExitStack() as stack:
        yield tuple([Agent(await stack.enter_async_context(house.client("--as", name))) for name in names])


@dataclass(frozen=True)
class Stored(House):
    """A house whose store lies elsewhere."""

    url: str

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "MOOT_STORE": self.url}


@pytest.fixture(params=["sqlite", "postgres"])
def place(house: House, request: pytest.FixtureRequest) -> House:
    shelf = house.root / ".moot" / "workflows"
    shelf.mkdir(parents=True)
    (shelf / "standards:fix.yaml").write_text(DEFINITION)
    for name in FILES:
        (house.root / name).touch()
    return house if request.param == "sqlite" else Stored(house.root, request.getfixturevalue("pg_made_url"))


async def test_a_workflow_is_walked_through_as_it_is_drawn(place: House) -> None:
    async with place.serving(), agents(place, "lead", "sub1", "sub2") as (lead, one, two):
        info = await lead.call("workflow_get_info", workflow="standards:fix")
        assert (info["name"], info["version"]) == ("standards:fix", "1.0.0")
        assert list(info["inputs"]) == ["pattern"]
        started = await lead.call("workflow_start", workflow="standards:fix", inputs={})
        id = started["workflow_id"]
        assert started["state"]["attempts"] == 0

        ask = await lead.step(id)
        assert ask is not None
        assert (ask["type"], ask["definition"]["prompt"]) == ("user_input", "Mend 3 files?")
        await lead.complete(id, ask["id"], result="yes")
        count = await lead.step(id)
        assert count is not None
        assert count["definition"] == {"updates": [{"path": "raw.attempts", "operation": "increment", "value": 1}]}
        await lead.complete(id, count["id"])
        tasks = await lead.step(id)
        assert tasks is not None
        assert (tasks["id"], tasks["type"]) == ("go.then.process_batches.parallel_foreach", "parallel_tasks")
        contexts = {task["task_id"]: task["context"]["files"] for task in tasks["definition"]["tasks"]}
        assert contexts == {"batch_0": ["a.ts", "b.ts"], "batch_1": ["e f.ts"]}

        async with asyncio.TaskGroup() as group:
            first = group.create_task(one.mend(id, "batch_0"))
            second = group.create_task(two.mend(id, "batch_1"))
        assert (len(first.result()), len(second.result())) == (3, 2)
        await lead.complete(id, tasks["id"])
        report = await lead.step(id)
        assert report is not None
        assert report["definition"] == {"message": "Processed 3 files with 4 fixes."}
        await lead.complete(id, report["id"])
        assert await lead.step(id) is None
        ended = await lead.call("workflow_complete", workflow_id=id, status="success")
        assert ended["success"] is True
        final = ended["final_state"]
        assert (final["fixes"], final["attempts"], final["ready_batches"]) == (4, 1, [])
        assert final["results"] == {"a.ts": 1, "b.ts": 2, "e f.ts": 1}
        assert final["batch_status"] == {"batch_0": "complete", "batch_1": "complete"}
    assert (place.root / "ran").read_text() == "x\n"


async def test_nobody_does_the_task_of_another_or_drives_what_another_holds(place: House) -> None:
    async with place.serving(), agents(place, "lead", "sub1", "sub2") as (lead, one, two):
        id = (await lead.call("workflow_start", workflow="standards:fix"))["workflow_id"]
        assert "NOT_ALLOWED" in await one.refused("workflow_get_next_step", workflow_id=id)
        ask = await lead.step(id)
        assert ask is not None
        assert "NOT_ALLOWED" in await one.refused(
            "workflow_step_complete", workflow_id=id, step_id=ask["id"], result="yes"
        )
        await lead.complete(id, ask["id"], result="yes")
        count = await lead.step(id)
        assert count is not None
        await lead.complete(id, count["id"])
        await lead.step(id)
        mine = await one.step(id, "batch_0")
        assert mine is not None
        context = {"task_id": "batch_0", "agent": "sub1", "files": ["/etc/passwd"]}
        assert "NOT_ALLOWED" in await two.refused("workflow_get_next_step", workflow_id=id, sub_agent_context=context)
        assert "NOT_ALLOWED" in await lead.refused("workflow_get_next_step", workflow_id=id, sub_agent_context=context)
        assert "NOT_ALLOWED" in await two.refused(
            "workflow_step_complete", workflow_id=id, step_id=mine["id"], sub_agent_context=context, result=1
        )
        assert await two.mend(id, "batch_1") == ["each.steps[1].fix.agent_shell_command", "done.state_update"]
        assert await one.step(id, "batch_0") == mine


async def test_a_client_that_is_gone_is_followed_by_another_of_its_name_at_the_same_step(place: House) -> None:
    """Without a host: each client serves itself, and the next finds what the last has left."""
    async with agents(place, "lead") as (lead,):
        id = (await lead.call("workflow_start", workflow="standards:fix"))["workflow_id"]
        ask = await lead.step(id)
        assert ask is not None
        await lead.complete(id, ask["id"], result="yes")
        count = await lead.step(id)
        kept = await lead.call("workflow_checkpoint", workflow_id=id, step_id=ask["id"], reason="much context")
        assert kept["checkpoint_id"] in kept["state_path"]
    async with agents(place, "lead", "sub1") as (lead, one):
        resumed = await lead.call("workflow_resume", workflow_id=id)
        assert resumed["last_checkpoint"]["step_id"] == "go.conditional"
        assert resumed["state"]["choice"] == "yes"
        assert await lead.step(id) == count
        assert count is not None
        await lead.complete(id, count["id"])
        tasks = await lead.step(id)
        assert tasks is not None
        for task in ("batch_0", "batch_1"):
            await one.mend(id, task)
        await lead.complete(id, tasks["id"])
        report = await lead.step(id)
        assert report is not None
        await lead.complete(id, report["id"])
        assert await lead.step(id) is None
    assert (place.root / "ran").read_text() == "x\n"
