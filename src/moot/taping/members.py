"""Who takes part in a run and what they share, as its tape has it."""

import hashlib
from collections.abc import Mapping
from typing import Protocol

from moot.core import json
from moot.core.json import Json
from moot.runner import terms
from moot.taping.tape import Member
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Backend, Workflow

_IN_WORDS = ("model", "permissions", "tools")  # what is told with both values; of the rest, that it has changed


class Chosen(Protocol):
    """What runs an agent, and whether somebody has said so."""

    @property
    def backend(self) -> Backend: ...

    @property
    def model(self) -> str | None: ...

    @property
    def is_said(self) -> bool: ...


def of_workflow(workflow: Workflow, chosen: Mapping[str, Chosen]) -> dict[str, Member]:
    return {agent.name: _member(agent, chosen[agent.name]) for agent in workflow.agents if agent.name in chosen}


def _member(agent: AgentDefinition, chosen: Chosen) -> Member:
    said = {name: one for name, one in stored.settings(agent).items() if name not in _IN_WORDS}
    if chosen.backend == "api":
        del said["env"]  # it is the variable with the key, whichever was there
    marks = {name: _mark(one) for name, one in said.items()}
    return Member(chosen.backend, chosen.is_said, chosen.model, agent.permissions.spelling, agent.tools, marks)


def _mark(value: Json) -> str:
    return hashlib.sha256(json.sorted_bytes(value)).hexdigest()[:16]


def context(workflow: Workflow) -> dict[str, str]:
    """What the agents share, as it is written down."""
    shared, budget = workflow.context, {"budget": terms.spell(workflow.budget)}
    if not shared.is_on:
        return {"context": "off", **budget}
    owner = shared.owner or shared.owner_rule
    files = ", ".join(shared.documents)
    return {"context": "on", "document": shared.document, "list of documents": files, "document owner": owner, **budget}
