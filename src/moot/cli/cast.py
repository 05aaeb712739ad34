"""The cast: who takes part in a workflow, run by what, who may do what, with which limits."""

from dataclasses import astuple, dataclass

from moot.runner import terms
from moot.workflow.workflow import AgentDefinition

HEADING = ("AGENT", "BACKEND", "MODEL", "PERMISSIONS", "WORKSPACE", "LIMITS")
LEAST_WIDTHS = (5, 7, 5, 11, 9)


@dataclass(frozen=True, slots=True)
class Part:
    """An agent as people read it; empty is what does not apply."""

    name: str
    runs_on: str
    model: str
    permissions: str
    workspace: str
    limits: str


def part(agent: AgentDefinition) -> Part:
    is_its_own = agent.backend in ("human", "external")  # does as it likes, where it likes
    may, where = ("", "") if is_its_own else (agent.permissions.spelling, agent.workspace)
    limits = terms.spell(agent.budget)
    return Part(agent.name, agent.backend or "(by model)", agent.model or "", may, where, limits)


def row(agent: AgentDefinition) -> tuple[str, ...]:
    """Under `HEADING`."""
    return tuple(cell or "-" for cell in astuple(part(agent)))


def brief(agent: AgentDefinition) -> tuple[str, str, str, str]:
    """In few columns, without a heading."""
    one = part(agent)
    rest = (one.permissions, one.workspace, at_most(one.limits))
    return f"  {one.name}", one.runs_on, one.model, ", ".join(word for word in rest if word)


def at_most(limits: str) -> str:
    return f"at most {limits}" if limits else ""
