"""All tools, by name, and who is offered which."""

from moot.core.caller import Caller
from moot.core.tool import Tool
from moot.tools import (
    agents,
    approving,
    channel,
    documents,
    flow,
    flow_debug,
    flow_definitions,
    flow_state,
    flow_steps,
    groups,
    inbox,
    proposals,
    requests,
    task_notes,
    tasks,
    workflows,
    workspaces,
)

_TALK = (channel, inbox, documents, proposals, requests, approving, agents)
_GROUPS = (*_TALK, workflows, tasks, task_notes, workspaces, flow_definitions, flow, flow_steps, flow_state, flow_debug)
TOOLS: dict[str, Tool] = {tool.name: tool for group in _GROUPS for tool in group.TOOLS}


def offered(caller: Caller) -> list[Tool]:
    """What this caller sees and may call."""
    return [tool for tool in TOOLS.values() if is_offered(tool, caller) and not tool.is_hidden]


def is_offered(tool: Tool, caller: Caller) -> bool:
    if tool.is_on_demand and tool.name not in (caller.groups or ()):
        return False
    return groups.holds(caller, tool.name, tool.group, tool.roles)
