"""The cast: who takes part in a workflow, run by what, on whose account, who may do what, with which limits."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple

from moot.app.choosing import Choice
from moot.core import durations, text
from moot.core.records import record
from moot.runner import terms
from moot.workflow.workflow import AgentDefinition, Workflow

HEADING = ("AGENT", "BACKEND", "MODEL", "ACCOUNT", "PERMISSIONS", "WORKSPACE", "LIMITS")
LEAST_WIDTHS = (5, 7, 5, 7, 11, 9)


@record
class Part:
    """An agent as people read it; empty is what does not apply."""

    name: str
    runs_on: str
    model: str
    account: str  # the login or the key
    permissions: str
    workspace: str
    limits: str


def part(agent: AgentDefinition, choice: Choice | None) -> Part:
    is_its_own = agent.backend in ("human", "external")  # does as it likes, where it likes
    may, where = ("", "") if is_its_own else (agent.permissions.spelling, agent.workspace)
    limits = _limits(agent)
    if choice is None:
        return Part(agent.name, agent.backend or "(none)", agent.model or "", "", may, where, limits)
    is_only_led = choice.backend == "api" and choice.model is None  # others speak in its place
    runs_on = "its team" if is_only_led else choice.backend
    return Part(agent.name, runs_on, _model(agent, choice), choice.account, may, where, limits)


def _limits(agent: AgentDefinition) -> str:
    """What it may use, and what its file says of each session."""
    turns = f"{text.counted(agent.max_turns, 'turn')} a session" if agent.max_turns is not None else ""
    spans = durations.spell(agent.timeout) if agent.timeout is not None else ""
    return ", ".join(one for one in (terms.spell(agent.budget), turns, spans) if one)


def _model(agent: AgentDefinition, choice: Choice) -> str:
    """As it was written; and what the API calls it, where that differs."""
    written, sent = choice.model or "", (agent.model or "").partition("/")[2]
    is_renamed = choice.backend == "api" and sent and not written.endswith(f"/{sent}")
    return f"{written} ({sent})" if is_renamed else written


def row(agent: AgentDefinition, choice: Choice | None) -> tuple[str, ...]:
    """Under `HEADING`."""
    return tuple(cell or "-" for cell in astuple(part(agent, choice)))


def brief(agent: AgentDefinition, choice: Choice | None) -> tuple[str, str, str, str]:
    """In few columns, without a heading."""
    one = part(agent, choice)
    rest = (one.account, one.permissions, one.workspace, at_most(one.limits))
    return f"  {one.name}", one.runs_on, one.model, ", ".join(word for word in rest if word)


def rows(agents: tuple[AgentDefinition, ...], choices: Mapping[str, Choice]) -> list[tuple[str, ...]]:
    """All of them, with the heading."""
    return [HEADING, *(row(agent, choices.get(agent.name)) for agent in agents)]


def servers(agents: Iterable[AgentDefinition]) -> list[str]:
    """What is started or reached for them besides their models."""
    return [f"{one.name} for {agent.name}: {one.spelling} ({one.source})" for agent in agents for one in agent.servers]


def at_most(limits: str) -> str:
    return f"at most {limits}" if limits else ""


def planned(workflow: Workflow) -> str:
    """`3, at most 2 at once`; nothing, if it has no tasks."""
    if not workflow.tasks:
        return ""
    apart = ", each in a worktree of its own" if workflow.makes_workspaces else ""
    meanwhile = ", beginning with the talk" if workflow.is_together else ""
    return f"{len(workflow.tasks)}, at most {workflow.max_parallel_tasks} at once{apart}{meanwhile}"
