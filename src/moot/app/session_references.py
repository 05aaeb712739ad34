"""Checks what a workflow file says of an agent that is a model, against what only sessions know: the tools they have by
themselves, the names that providers take, the lines of a scripted model."""

from collections.abc import Collection, Iterator, Mapping

from moot.app import script_lines
from moot.app.script_lines import Form, Found, Known
from moot.core import workspace_tools
from moot.models.scripted import Answers
from moot.session import external_tools, reports, subagents
from moot.session.patterns import broadcasting, router
from moot.tools import table
from moot.workflow.members import Member

_READ_ON, _SUB_AGENT = "result_read", "agent_"  # tools of sessions; the latter with a name behind it


class _Models(Form, frozen=True):
    agents: Mapping[str, Answers]


def unfit(name: str, member: Member, tools: Collection[str]) -> Iterator[Found]:
    others = tuple(external_tools.names(one.name, [""])[0] for one in member.definition.servers)
    yield from _sub_agents(member)
    yield from script_lines.unfit(name, member, Known(tools, others))
    known = Known({*tools, *_own_tools(member)}, others)
    yield from script_lines.unfit(name, member, known, "answers", _Models)


def _sub_agents(member: Member) -> Iterator[Found]:
    """Each is a tool, which must have a name of its own, and one that every provider takes."""
    for one in member.references:
        tool = f"{_SUB_AGENT}{one.name}"
        if one.kind == "agent" and tool in table.TOOLS:
            fact = f"`{one.name}` cannot be called as a sub-agent: `{tool}` is a tool of moot itself"
            yield one.problem(fact, "Give the agent another name.")
        elif one.kind == "agent" and len(tool) > external_tools.LONGEST:
            fact = f"`{one.name[:80]}` cannot be called as a sub-agent: its name is too long for a tool"
            yield one.problem(fact, f"Use up to {external_tools.LONGEST - len(_SUB_AGENT)} characters.")


def is_own_tool(name: str) -> bool:
    """Whether some session has a tool of this name by itself."""
    own = (reports.NAME, broadcasting.NAME, _READ_ON, router.NAME, subagents.ASK)
    return name in own or name.startswith(_SUB_AGENT)


def _own_tools(member: Member) -> Iterator[str]:
    """Those that a session has besides those of moot."""
    patterns = member.definition.patterns
    yield from (reports.NAME, broadcasting.NAME, _READ_ON)
    yield from workspace_tools.chosen(member.definition.tools or ())
    yield from (router.NAME,) if patterns.destinations else ()
    yield from (subagents.ASK, *(f"{_SUB_AGENT}{name}" for name in patterns.agents)) if patterns.agents else ()
