"""Checks the lines of a scripted agent, or of a scripted model: their form, and that the tools they call exist."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ValidationError

from moot.backends.script import Script
from moot.core import problems, yaml
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow.members import Member

Found = tuple[Document, Problem]
Calls = tuple[Mapping[str, object], ...]
Field = Literal["script", "answers"]


class Form(BaseModel, strict=True, frozen=True, defer_build=True):
    """Lines as a file has them, by the name of each agent."""

    agents: Mapping[str, BaseModel]


class _Scripts(Form, frozen=True):
    agents: Mapping[str, Script]


@record
class Known:
    """What the lines may call."""

    tools: Collection[str]
    others: tuple[str, ...] = ()  # how tools of other servers begin, which are known when it runs


def unfit(
    name: str, member: Member, known: Known, field: Field = "script", form: type[Form] = _Scripts
) -> Iterator[Found]:
    """What is wrong with them."""
    document, path = member.places[field]
    data = {"agents": {name: {field: list(getattr(member.definition, field))}}}
    try:
        found = form.model_validate(data)
    except ValidationError as error:
        for one in problems.found(error, form, data):
            yield document, Problem((*path, *one.path[3:]), one.fact, one.remedy, one.is_key)
        return
    calls = [line.calls for line in getattr(found.agents[name], field)]
    for one in _unknown(path, calls, known.tools):
        if not known.others or not str(one.path[-1]).startswith(known.others):
            yield document, one


def _unknown(path: yaml.Path, lines: Iterable[Calls], tools: Collection[str]) -> Iterator[Problem]:
    """Found here and not when the line is played, which may be never or hours later."""
    for at, calls in enumerate(lines):
        for number, call in enumerate(calls):
            for tool in call.keys() - set(tools):
                spot = (*path, at, "calls", number, tool)
                yield Problem(spot, f"there is no tool `{tool[:80]}`", hint(tool, tools), is_key=True)
