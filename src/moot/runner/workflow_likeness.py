"""Compares the workflow that is played with the one that was recorded: who takes part, run by what, told what."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from moot.core import json
from moot.core.json import Json
from moot.runner import likeness
from moot.runner.tape import Header, Member
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Backend, Workflow

_IN_WORDS = ("model", "permissions", "tools")  # what is told with both values; of the rest, that it has changed
_BY_BACKEND = ("base_url", "env")  # what is found with a backend that nobody has said
_SPELLED = {"is_isolated": "isolated", "keeps_conversation": "resume"}
PROMPT_CHANGED = "its system prompt has changed"


class Chosen(Protocol):
    """What runs an agent, and whether somebody has said so."""

    @property
    def backend(self) -> Backend: ...

    @property
    def model(self) -> str | None: ...

    @property
    def is_said(self) -> bool: ...


def members(workflow: Workflow, chosen: Mapping[str, Chosen]) -> dict[str, Member]:
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
    shared = workflow.context
    if not shared.is_on:
        return {"context": "off"}
    owner = shared.owner or shared.owner_rule
    files = ", ".join(shared.documents)
    return {"context": "on", "document": shared.document, "list of documents": files, "document owner": owner}


def compare(recorded: Header, workflow: Workflow, chosen: Mapping[str, Chosen], instance: str) -> Iterator[str]:
    """Every difference, in words."""
    now = members(workflow, chosen)
    for name in [*recorded.agents, *(one for one in now if one not in recorded.agents)]:
        old, new = recorded.agents.get(name), now.get(name)
        if old is None:
            yield f"{name} is new in the workflow"
        elif new is None:
            yield f"{name} was in the workflow, and is not any more"
        else:
            yield from (f"{name}: {fact}" for fact in _changes(old, new))
    yield from _compare_context(recorded, context(workflow), instance)


def _changes(old: Member, new: Member) -> Iterator[str]:
    before, after = (one.backend if one.is_said else None for one in (old, new))
    told: Sequence[tuple[str, str | None, str | None]] = (
        ("the backend", before, after),
        ("the model", old.model, new.model),
    )
    for what, was, is_now in told:
        if was != is_now:
            yield f"{what} was {was or 'left open'} and is {is_now or 'left open'}"
    if old.permissions != new.permissions:
        yield f"the permissions were {old.permissions} and are {new.permissions}"
    if old.tools != new.tools:
        yield f"the tools were {_tools(old)} and are {_tools(new)}"
    for name, mark in old.marks.items():
        is_found = name in _BY_BACKEND and old.backend != new.backend
        if not is_found and new.marks.get(name, mark) != mark:
            yield PROMPT_CHANGED if name == "system_prompt" else f"`{_SPELLED.get(name, name)}` has changed"


def _tools(member: Member) -> str:
    return "all" if member.tools is None else ", ".join(member.tools) or "none"


def _compare_context(recorded: Header, now: Mapping[str, str], instance: str) -> Iterator[str]:
    names = (recorded.instance, instance)
    for what, was in recorded.context.items():
        is_now = now.get(what, was)
        if likeness.unnamed(was, names) != likeness.unnamed(is_now, names):
            yield f"the {what} was {was or 'none'} and is {is_now or 'none'}"
