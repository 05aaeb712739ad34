"""All tools, by name, and who is offered which."""

from collections.abc import Mapping
from dataclasses import field

from moot.core.caller import Caller
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.core.records import record
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
    team,
    workflows,
    workspaces,
)

_TALK = (channel, inbox, documents, proposals, requests, approving, agents)
_FLOW = (flow_definitions, flow, flow_steps, flow_state, flow_debug)
_GROUPS = (*_TALK, workflows, tasks, task_notes, workspaces, *_FLOW, team)
TOOLS: dict[str, Tool] = {tool.name: tool for group in _GROUPS for tool in group.TOOLS}


@record
class Functions:
    """Python functions that one run is given, for the agents of its instance alone."""

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    instance: InstanceName = DEFAULT_INSTANCE

    def of(self, caller: Caller) -> Mapping[str, Tool]:
        return self.tools if caller.instance == self.instance else {}


NO_FUNCTIONS = Functions()


def find(name: str, caller: Caller, functions: Functions = NO_FUNCTIONS) -> Tool | None:
    return TOOLS.get(name) or functions.of(caller).get(name)


def offered(caller: Caller, functions: Functions = NO_FUNCTIONS) -> list[Tool]:
    """What this caller sees and may call."""
    known = (*TOOLS.values(), *functions.of(caller).values())
    return [tool for tool in known if is_offered(tool, caller) and not tool.is_hidden]


def is_offered(tool: Tool, caller: Caller) -> bool:
    if tool.is_on_demand and tool.name not in (caller.groups or ()):
        return False
    return groups.holds(caller, tool.name, tool.group, tool.roles)
