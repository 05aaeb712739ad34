"""The parts in a team: what each is told, which tools it holds, what it may do and where it works.

A lead changes nothing but the plan, a reviewer nothing at all, a worker only what is in its own worktree. A file may
say more of its members, but nothing against this.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from moot.core import workspace_tools
from moot.core.permissions import PRESETS, Permissions
from moot.core.problems import Problem
from moot.core.records import record, replace
from moot.core.yaml import Document
from moot.core.yaml import Path as YamlPath
from moot.workflow.members import Member
from moot.workflow.reading import Draft
from moot.workflow.workflow import AgentDefinition, Part, Workflow

_READING = ("channel_read", "channel_peek", "channel_search", "document_read", "document_list", "workspace_list")
_LOOKING = ("task_get", "task_load_context", "task_check_dependencies", "checkpoint_list", "agent_list", "agent_get")
_PROGRESS = ("workflow_get", "workflow_progress", "workflow_next_tasks", "workflow_summary")
_CHANGING = (*workspace_tools.GROUPS["edit"], *workspace_tools.GROUPS["shell"], "edit", "shell")
_READ_ONLY = PRESETS["read-only"]


@record
class Terms:
    """What a part is about."""

    tools: tuple[str, ...]
    session_tools: tuple[str, ...]  # for those that are sessions of moot itself
    permissions: Permissions | None  # None: as is said, and else to change files without asking
    refused: tuple[str, ...] = ()  # tools that it cannot be given


_TERMS: Mapping[Part, Terms] = {
    "lead": Terms(
        (*_READING, *_LOOKING, *_PROGRESS, "workflow_set_plan", "workflow_add_tasks", "task_update_status", "documents",
         "proposals", "requests", "team"),
        ("files",),
        _READ_ONLY,
        _CHANGING,
    ),
    "reviewer": Terms(
        (*_READING, *_LOOKING, *_PROGRESS, "team"),
        ("files",),
        _READ_ONLY,
        (*_CHANGING, "documents", "document_write", "document_append", "document_create", "document_delete",
         "workspaces", "workspace_create", "workspace_merge", "workspace_update", "workflows", "workflow_set_plan",
         "workflow_add_tasks", "tasks", "task_claim"),
    ),
    "worker": Terms(
        (*_READING, *_LOOKING, *_PROGRESS, "document_append", "document_suggest", "requests", "task_set_plan",
         "task_replan", "task_update_status", "checkpoint_add", "workspace_merge"),
        ("files", "edit", "shell"),
        None,
        ("workflow_set_plan", "workflow_add_tasks", "workflows"),
    ),
}  # fmt: skip


def fit(draft: Draft) -> Draft:
    """Its members as their parts want them; what a file says against that is noted."""
    workflow = draft.workflow
    if workflow is None or workflow.team is None:
        return draft
    parts = workflow.team.parts
    for name, part in parts.items():
        for found in _against(draft.members[name], part, draft.document):
            draft.faults.add(*found)
    members = {name: _in_part(one, parts[name]) if name in parts else one for name, one in draft.members.items()}
    agents = tuple(members[one.name].definition for one in workflow.agents)
    return replace(draft, workflow=replace(workflow, agents=agents), members=members)


def equipped(agent: AgentDefinition, workflow: Workflow) -> AgentDefinition:
    """Once it is known what runs it: with tools for files, if that has none of its own."""
    part = workflow.team.parts.get(agent.name) if workflow.team else None
    is_session = agent.backend == "api" or (agent.backend == "scripted" and bool(agent.answers))
    if part is None or not is_session:
        return agent
    return replace(agent, tools=tuple(dict.fromkeys((*(agent.tools or ()), *_TERMS[part].session_tools))))


def prompt(part: Part) -> str:
    """What somebody in this part is told, whoever it is."""
    return _prompts()[part]


@cache
def _prompts() -> Mapping[Part, str]:
    here = Path(__file__).parent
    rules = (here / "rules.md").read_text(encoding="utf-8").strip()
    return {part: f"{(here / f'{part}.md').read_text(encoding='utf-8').strip()}\n\n{rules}" for part in _TERMS}


def _in_part(member: Member, part: Part) -> Member:
    places = {"tools": member.places["name"], **member.places}  # where its tools stand, if the file names none
    return replace(member, definition=_fitted(member, part), places=places)


def _fitted(member: Member, part: Part) -> AgentDefinition:
    agent, terms = member.definition, _TERMS[part]
    own = agent.system_prompt.strip()
    told = f"{prompt(part)}\n\n## In this team\n\n{own}" if own else prompt(part)
    tools = tuple(dict.fromkeys((*terms.tools, *(agent.tools or ()))))
    comes_itself = agent.backend in ("human", "external")
    permissions = terms.permissions or (agent.permissions if "permissions" in member.places else PRESETS["edit"])
    return replace(
        agent,
        system_prompt=told,
        description=agent.description or part,
        tools=tools,
        permissions=agent.permissions if comes_itself else permissions,
        workspace="worktree" if part == "worker" and not comes_itself else agent.workspace,
    )


def _against(member: Member, part: Part, document: Document) -> Iterator[tuple[Document, Problem]]:
    """What is said of it in the file itself; `defaults` are for those whom they fit."""
    agent, terms = member.definition, _TERMS[part]
    what = f"`{agent.name}` is {'the lead' if part == 'lead' else f'a {part}'} of the team"
    is_free = terms.permissions is not None and agent.permissions != terms.permissions
    if is_free and (place := _own(member, "permissions", document)):
        yield document, Problem(place, f"{what}, which changes no files", "Leave its permissions out.")
    if part == "worker" and agent.workspace != "worktree" and (place := _own(member, "workspace", document)):
        yield document, Problem(place, f"{what}, and works in a worktree of its own", "Leave its workspace out.")
    wrong = next((tool for tool in agent.tools or () if tool in terms.refused), None)
    if wrong is not None and (place := _own(member, "tools", document)):
        yield document, Problem(place, f"{what}, which does not use `{wrong}`", "Leave that tool out.")


def _own(member: Member, field: str, document: Document) -> YamlPath | None:
    place = member.places.get(field)
    if place is None or place[0].name != document.name or place[1][:1] != ("agents",):
        return None
    return place[1]
