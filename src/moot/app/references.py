"""Checks what a workflow file refers to and only other parts know: names, files, tools, lines of scripts, whom it
mentions."""

from collections.abc import Collection, Iterator

from moot.app import context_folders, script_lines
from moot.app.script_lines import Found, Known
from moot.board import evidence, plans
from moot.bus import mentions
from moot.core import problems, schema_checker, servers, workspace_tools, yaml
from moot.core.errors import MootError
from moot.core.nearest import hint, nearest
from moot.core.problems import Problem
from moot.core.records import replace
from moot.registry import names
from moot.runner import plan_section
from moot.tools import groups, sharing, table
from moot.tools.talk import EVERYONE
from moot.workflow import connecting, templates
from moot.workflow.members import Member
from moot.workflow.reading import Draft
from moot.workflow.workflow import Workflow

_RULES = frozenset(("elect", "none"))  # what `document_owner` may be besides a name


def check(draft: Draft, functions: Collection[str] = ()) -> None:
    """Add to the draft's faults what is wrong. `functions` are tools that are not in the table."""
    tools = {*table.TOOLS, *functions}
    for found in (*_names(draft), *_kickoff(draft), *_files(draft), *_tasks(draft)):
        draft.faults.add(*found)
    is_shared = draft.workflow is None or draft.workflow.context.is_on
    for name, member in draft.members.items():
        held = _tools(name, member, tools, is_shared=is_shared)
        for found in (*held, *_one_of_them(member), *_lines(name, member, tools)):
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


def _tasks(draft: Draft) -> Iterator[Found]:
    """Who is to do them, what is asked for, and whether the plan can be carried out at all."""
    if draft.workflow is None:
        return
    own = [agent.name for agent in draft.workflow.agents]
    known = {names.fold(name) for name in own}
    for at, task in enumerate(draft.workflow.tasks):
        if task.agent is not None and names.fold(task.agent) not in known:
            path: yaml.Path = ("tasks", at, "agent")
            fact = f"`{problems.spell(path)}` names `{task.agent[:80]}`, who is not among the agents"
            yield draft.document, Problem(path, fact, hint(task.agent, own))
        for number, words in enumerate(task.checks):
            try:
                evidence.parse(words)
                for schema in evidence.schemas([words]):
                    evidence.refuse_schema(schema_checker.fault(schema))
            except MootError as error:
                path = ("tasks", at, "checks", number)
                yield draft.document, Problem(path, f"`{problems.spell(path)}`: {error.fact.rstrip('.')}", error.remedy)
    try:
        plans.check([replace(one, checks=()) for one in plan_section.plan_of(draft.workflow).tasks])
    except MootError as error:
        yield draft.document, Problem(("tasks",), f"`tasks`: {error.fact.rstrip('.')}", error.remedy)


def _files(draft: Draft) -> Iterator[Found]:
    if draft.workflow is not None:
        yield from ((draft.document, one) for one in context_folders.faults(draft.workflow.context))


def _tools(name: str, member: Member, tools: Collection[str], *, is_shared: bool) -> Iterator[Found]:
    known = {*groups.NAMES, *tools, *workspace_tools.GROUPS, *workspace_tools.NAMES}
    for at, tool in enumerate(member.definition.tools or ()):
        document, path = member.places["tools"]
        where = f"`agents.{name}`: " if document.name else ""
        if tool.startswith(servers.PREFIX):
            if (wrong := _server(tool, member)) is not None:
                yield document, Problem((*path, at), f"{where}{wrong[0]}", wrong[1])
        elif tool not in known:
            fact = f"{where}there is no tool or group `{tool[:80]}`"
            yield document, Problem((*path, at), fact, hint(tool, known))
        elif not is_shared and tool.startswith(sharing.SHARED):
            fact = f"{where}`{tool}` is not there with `context: false`"
            yield document, Problem((*path, at), fact, "Leave it out, or leave out `context: false`.")


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


def _lines(name: str, member: Member, tools: Collection[str]) -> Iterator[Found]:
    """Of a script or of a scripted model; and what else only sessions know."""
    definition = member.definition
    if not (definition.answers or definition.servers or member.references):
        return script_lines.unfit(name, member, Known(tools))
    from moot.app import session_references  # noqa: PLC0415  # sessions are heavy, and few agents are models

    return session_references.unfit(name, member, tools)


def _one_of_them(member: Member) -> Iterator[Found]:
    if member.definition.answers and member.definition.script:
        document, path = member.places["answers"]
        yield document, Problem(path, "an agent has a script or answers, not both", "Leave one of them out.")
