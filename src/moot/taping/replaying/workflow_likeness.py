"""Compares the workflow that is played with the one that was recorded: who takes part, run by what, told what."""

from collections.abc import Iterator, Mapping, Sequence

from moot.taping import members
from moot.taping.members import Chosen
from moot.taping.replaying import likeness
from moot.taping.tape import Header, Member
from moot.workflow.workflow import Workflow

_BY_BACKEND = ("base_url", "env")  # what is found with a backend that nobody has said
_SPELLED = {"is_isolated": "isolated", "keeps_conversation": "resume"}
PROMPT_CHANGED = "its system prompt has changed"


def compare(recorded: Header, workflow: Workflow, chosen: Mapping[str, Chosen], instance: str) -> Iterator[str]:
    """Every difference, in words."""
    now = members.of_workflow(workflow, chosen)
    for name in [*recorded.agents, *(one for one in now if one not in recorded.agents)]:
        old, new = recorded.agents.get(name), now.get(name)
        if old is None:
            yield f"{name} is new in the workflow"
        elif new is None:
            yield f"{name} was in the workflow, and is not any more"
        else:
            yield from (f"{name}: {fact}" for fact in _changes(old, new))
    yield from _compare_context(recorded, members.context(workflow), instance)


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
