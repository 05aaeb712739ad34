"""Prompts: what who carries out a workflow is told, in both revisions, to those who hold the tools for it."""

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from moot.mcp.server import Address
from moot.tools import flow_prompts
from tests.mcp import clients
from tests.mcp.people import Meeting


async def told(client: Client, name: str, arguments: dict[str, str] | None = None) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_who_goes_through_workflows_finds_prompts_for_it(address: Address, meeting: Meeting, mode: str) -> None:
    ann = await meeting.join("ann", groups=("flow",))
    async with clients.official(address, ann.token, mode=mode) as client:
        listed = (await client.list_prompts()).prompts
        assert [(one.name, [(a.name, bool(a.required)) for a in one.arguments or ()]) for one in listed] == [
            ("workflow", [("workflow", False), ("inputs", False)]),
            ("workflow_sub_agent", [("workflow_id", False), ("task_id", False)]),
        ]
        whole = await told(client, "workflow")
        assert whole == f"{flow_prompts.ORCHESTRATOR}\n{flow_prompts.COMMAND}"
        named = await told(client, "workflow", {"workflow": "standards:fix", "inputs": "branch=main"})
        assert named.endswith("\nCurrent workflow: standards:fix\nInputs: branch=main\n")
        assert "Go on with wf_1: workflow_resume first." in await told(client, "workflow", {"workflow": "wf_1"})
        assert await told(client, "workflow_sub_agent") == flow_prompts.SUB_AGENT
        task = await told(client, "workflow_sub_agent", {"workflow_id": "wf_1", "task_id": "batch_0"})
        assert task.endswith("\nworkflow_id: wf_1\ntask_id: batch_0\n")


async def test_who_holds_no_such_tools_finds_none(address: Address, meeting: Meeting) -> None:
    kim = await meeting.join("kim", groups=("channel",))
    async with clients.official(address, kim.token) as client:
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="There is no prompt 'workflow' for you"):
            await client.get_prompt("workflow")


async def test_a_prompt_that_is_not_there_is_refused(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.official(address, ann.token) as client:
        with pytest.raises(MCPError, match="There is no prompt 'other' for you"):
            await client.get_prompt("other")
