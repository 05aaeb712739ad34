"""The names of the tool groups, and who holds which tool, for those who only ask that: the tools themselves cost more
to import."""

from collections.abc import Mapping
from typing import Literal, get_args

from moot.core.caller import Caller, Role
from moot.core.errors import InvalidInput, NotAllowed
from moot.core.tool import EVERYONE, WRITERS

TALK = ("channel", "inbox", "documents", "proposals", "requests", "agents")
PLAN = ("workflows", "tasks")  # for those who work on a plan
FLOW = ("flow", "state", "debug")  # for those who go through a workflow step by step
TEAM = "team"  # for those who lead and review in one
FUNCTIONS = "functions"  # in Python, of whoever runs the workflow from a program of theirs
NAMES = (*TALK, *PLAN, "workspaces", *FLOW, TEAM, FUNCTIONS)

SEND = "channel_send"
APPROVE = "approve"  # a tool that is offered only to those whose groups name it


# The tools that do what commands do: an agent may use the command only if it holds the tool.
Looking = Literal[
    "channel_read",
    "channel_search",
    "inbox_check",
    "document_list",
    "document_read",
    "document_history",
    "proposal_status",
    "request_list",
    "agent_list",
    "workspace_list",
    "workflow_list",
    "workflow_progress",
    "task_get",
    "workflow_state_read",
    "workflow_debug_info",
    "workflow_trace_transformations",
]
Acting = Literal[
    "channel_send",
    "document_write",
    "document_append",
    "document_delete",
    "vote",
    "proposal_cancel",
    "request_create",
    "request_respond",
    "task_claim",
    "task_release",
    "task_update_status",
]
GROUPS: Mapping[Looking | Acting, str] = {
    **dict.fromkeys(("channel_read", "channel_search", "channel_send"), "channel"),
    "inbox_check": "inbox",
    **dict.fromkeys(("document_list", "document_read", "document_history"), "documents"),
    **dict.fromkeys(("document_write", "document_append", "document_delete"), "documents"),
    **dict.fromkeys(("proposal_status", "proposal_cancel", "vote"), "proposals"),
    **dict.fromkeys(("request_list", "request_create", "request_respond"), "requests"),
    "agent_list": "agents",
    "workspace_list": "workspaces",
    **dict.fromkeys(("workflow_list", "workflow_progress"), "workflows"),
    "workflow_state_read": "state",
    **dict.fromkeys(("workflow_debug_info", "workflow_trace_transformations"), "debug"),
    **dict.fromkeys(("task_get", "task_claim", "task_release", "task_update_status"), "tasks"),
}


class GroupUnknown(InvalidInput):
    code = "GROUP_UNKNOWN"


def parse(text: str) -> tuple[str, ...]:
    """`channel,inbox` as people write it."""
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        raise GroupUnknown(f"There is no tool group {', '.join(unknown)[:80]!r}.", f"Choose from: {', '.join(NAMES)}.")
    return chosen


def holds(caller: Caller, tool: str, group: str, roles: frozenset[Role]) -> bool:
    """Whether a tool is the caller's to use, by its groups and its role."""
    is_in_groups = caller.groups is None or group in caller.groups or tool in caller.groups
    return is_in_groups and caller.role in roles


def check(caller: Caller, tool: Looking | Acting) -> None:
    """NotAllowed for who does not hold the tool that a command stands for."""
    roles = EVERYONE if tool in get_args(Looking) else WRITERS
    if not holds(caller, tool, GROUPS[tool], roles):
        raise refusal(caller, tool)


def refusal(caller: Caller, tool: str) -> NotAllowed:
    return NotAllowed(f"{caller.name} ({caller.role}) may not use {tool}.", "See tools/list for what is offered.")
