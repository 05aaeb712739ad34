"""The stored form of a workflow: plain JSON, kept with the run so that it goes on as it was begun whatever becomes of
the files."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from moot.core.json import Json
from moot.workflow.workflow import AgentDefinition, Backend, Workflow

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_TOLD_OTHERWISE = frozenset(("name", "backend", "description"))


def to_json(workflow: Workflow) -> Mapping[str, Json]:
    return cast(Mapping[str, Json], _form().dump_python(workflow, mode="json"))


def from_json(stored: Mapping[str, Json]) -> Workflow:
    return _form().validate_python(stored)


def names(stored: Mapping[str, Json]) -> list[str]:
    """Of its agents, for those who want no more."""
    return [cast(str, one["name"]) for one in cast(Sequence[Mapping[str, Json]], stored["agents"])]


def workers(stored: Mapping[str, Json]) -> list[str]:
    """Of its team, if it has one."""
    team = cast(Mapping[str, Json] | None, stored.get("team"))
    return [] if team is None else cast(list[str], team["workers"])


def settings(agent: AgentDefinition, others: Sequence[AgentDefinition] = ()) -> Mapping[str, Json]:
    """What a backend is told about the agent that it runs, and about the others who take part in what it does."""
    told = cast(dict[str, Json], _agent_form().dump_python(agent, mode="json"))
    own = {name: value for name, value in told.items() if name not in _TOLD_OTHERWISE}
    return {**own, "cast": [_agent_form().dump_python(one, mode="json") for one in others]} if others else own


def definitions(name: str, backend: Backend, settings: Mapping[str, Json]) -> tuple[AgentDefinition, ...]:
    """What `settings` were made from: the agent, then the others."""
    others = cast(Sequence[Json], settings.get("cast", ()))
    found = _agent_form().validate_python({**settings, "name": name, "backend": backend})
    return (found, *(_agent_form().validate_python(one) for one in others))


@cache
def _form() -> "TypeAdapter[Workflow]":
    from pydantic import TypeAdapter  # noqa: PLC0415  # heavy, and many a command looks into no run

    return TypeAdapter(Workflow)


@cache
def _agent_form() -> "TypeAdapter[AgentDefinition]":
    from pydantic import TypeAdapter  # noqa: PLC0415  # as above

    return TypeAdapter(AgentDefinition)
