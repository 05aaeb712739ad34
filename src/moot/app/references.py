"""Checks what a workflow file refers to and only other parts know: names, files, tools, lines of scripts, whom it
mentions."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from moot.app import context_folders
from moot.backends.script import Line, Script
from moot.bus import mentions
from moot.core import problems, servers, workspace_tools, yaml
from moot.core.errors import MootError
from moot.core.nearest import hint, nearest
from moot.core.problems import Problem
from moot.core.yaml import Document
from moot.models.scripted import AnswerLine, Answers
from moot.registry import names
from moot.session import external_tools, reports, subagents
from moot.session.patterns import broadcasting, router
from moot.tools import groups, table
from moot.tools.talk import EVERYONE
from moot.workflow import connecting, templates
from moot.workflow.members import Member
from moot.workflow.reading import Draft
from moot.workflow.workflow import Workflow

Found = tuple[Document, Problem]
_RULES = frozenset(("elect", "none"))  # what `document_owner` may be besides a name

_READ_ON, _SUB_AGENT = "result_read", "agent_"  # tools of sessions; the latter with a name behind it


class _Scripts(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    agents: Mapping[str, Script]


class _Models(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    agents: Mapping[str, Answers]


_FORMS: Mapping[str, type[_Scripts] | type[_Models]] = {"script": _Scripts, "answers": _Models}


def check(draft: Draft) -> None:
    """Add to the draft's faults what is wrong."""
    for found in (*_names(draft), *_kickoff(draft), *_files(draft)):
        draft.faults.add(*found)
    for name, member in draft.members.items():
        lines = (*_lines(name, member, "script"), *_lines(name, member, "answers"), *_one_of_them(member))
        for found in (*_tools(name, member), *_sub_agents(member), *lines):
            draft.faults.add(*found)


def woken(workflow: Workflow) -> tuple[str, ...]:
    """Whom the kickoff wakes, in the order of the file, by what its author wrote in it."""
    mentioned = {names.fold(name) for name in mentions.names(templates.written(workflow.kickoff))}
    everyone = not mentioned.isdisjoint(EVERYONE)
    known = (*(agent.name for agent in workflow.agents), *(["human"] if "human" in mentioned else []))
    return tuple(name for name in known if everyone or names.fold(name) in mentioned)


def _names(draft: Draft) -> Iterator[Found]:
    seen: dict[str, str] = {}
    for name, member in draft.members.items():
        document, path = member.places["name"]
        who = f"`agents.{name[:80]}`"
        try:
            names.check_agent(name)
        except MootError as error:
            yield document, Problem(path, f"{who}: {error.fact.rstrip('.')}", error.remedy, is_key=True)
        other = seen.setdefault(names.fold(name), name)
        if other != name:
            yield document, Problem(path, f"{who} and `agents.{other}` are the same name", "Choose another.", True)
        if names.fold(name) in _RULES:
            fact = f"{who}: `document_owner: {name}` means something else"
            yield document, Problem(path, fact, "Choose another name.", is_key=True)


def _kickoff(draft: Draft) -> Iterator[Found]:
    if draft.workflow is None:
        return
    own = [agent.name for agent in draft.workflow.agents]
    known = {names.fold(name) for name in own} | EVERYONE | names.SERVICES | {"human"}
    for name in mentions.names(templates.written(draft.workflow.kickoff)):
        if names.fold(name) not in known:
            fact = f"`kickoff` mentions @{name[:80]}, who is not among the agents"
            remedy = f"{hint(name, own)} To only write the name, put it in backticks."
            yield draft.document, Problem(("kickoff",), fact, remedy)


def _files(draft: Draft) -> Iterator[Found]:
    if draft.workflow is not None:
        yield from ((draft.document, one) for one in context_folders.faults(draft.workflow.context))


def _tools(name: str, member: Member) -> Iterator[Found]:
    known = {*groups.NAMES, *table.TOOLS, *workspace_tools.GROUPS, *workspace_tools.NAMES}
    for at, tool in enumerate(member.definition.tools or ()):
        document, path = member.places["tools"]
        where = f"`agents.{name}`: " if document.name else ""
        if tool.startswith(servers.PREFIX):
            if (wrong := _server(tool, member)) is not None:
                yield document, Problem((*path, at), f"{where}{wrong[0]}", wrong[1])
        elif tool not in known:
            fact = f"{where}there is no tool or group `{tool[:80]}`"
            yield document, Problem((*path, at), fact, hint(tool, known))


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


def _server(tool: str, member: Member) -> tuple[str, str] | None:
    """What is wrong with a tool of another server."""
    name, slash, inside = tool.removeprefix(servers.PREFIX).partition("/")
    if name not in member.servers:
        near = nearest(name, member.servers)
        declare = f"Declare it under {connecting.FIELD}."
        fact = f"there is no MCP server `{name[:80]}`"
        return fact, f"Did you mean `{servers.PREFIX}{near}`?" if near is not None else declare
    if slash and not inside:
        return f"`{tool[:80]}` names no tool", f"Write {servers.PREFIX}{name} for all of them."
    return None


def _lines(name: str, member: Member, field: str) -> Iterator[Found]:
    """Of a scripted agent, or of a scripted model."""
    document, path = member.places[field]
    form = _FORMS[field]
    data = {"agents": {name: {field: list(getattr(member.definition, field))}}}
    try:
        lines = getattr(form.model_validate(data).agents[name], field)
    except ValidationError as error:
        for one in problems.found(error, form, data):
            yield document, Problem((*path, *one.path[3:]), one.fact, one.remedy, one.is_key)
        return
    known = {*table.TOOLS, *(_of_session(member) if field == "answers" else ())}
    # What a server of others has is known when it runs.
    others = tuple(external_tools.names(one.name, [""])[0] for one in member.definition.servers)
    for found in _unknown_calls(path, lines, known):
        if not others or not str(found.path[-1]).startswith(others):
            yield document, found


def _of_session(member: Member) -> Iterator[str]:
    """Tools that a session has besides those of moot."""
    patterns = member.definition.patterns
    yield from (reports.NAME, broadcasting.NAME, _READ_ON)
    yield from workspace_tools.chosen(member.definition.tools or ())
    yield from (router.NAME,) if patterns.destinations else ()
    yield from (subagents.ASK, *(f"{_SUB_AGENT}{name}" for name in patterns.agents)) if patterns.agents else ()


def _one_of_them(member: Member) -> Iterator[Found]:
    if member.definition.answers and member.definition.script:
        document, path = member.places["answers"]
        yield document, Problem(path, "an agent has a script or answers, not both", "Leave one of them out.")


def _unknown_calls(path: yaml.Path, lines: Iterable[Line | AnswerLine], known: Collection[str]) -> Iterator[Problem]:
    """Found here and not when the line is played, which may be never or hours later."""
    for at, line in enumerate(lines):
        for number, call in enumerate(line.calls):
            for tool in call.keys() - set(known):
                spot = (*path, at, "calls", number, tool)
                yield Problem(spot, f"there is no tool `{tool[:80]}`", hint(tool, known), is_key=True)
