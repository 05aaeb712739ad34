"""The stored form of a workflow: plain JSON, kept with the run so that it goes on as it was begun whatever becomes of
the files."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import TypeAdapter

from moot.core.json import Json
from moot.workflow.workflow import AgentDefinition, Backend, Workflow

_FORM: TypeAdapter[Workflow] = TypeAdapter(Workflow)
_AGENT: TypeAdapter[AgentDefinition] = TypeAdapter(AgentDefinition)
_TOLD_OTHERWISE = frozenset(("name", "backend", "description"))


def to_json(workflow: Workflow) -> Mapping[str, Json]:
    return cast(Mapping[str, Json], _FORM.dump_python(workflow, mode="json"))


def from_json(stored: Mapping[str, Json]) -> Workflow:
    return _FORM.validate_python(stored)


def settings(agent: AgentDefinition, others: Sequence[AgentDefinition] = ()) -> Mapping[str, Json]:
    """What a backend is told about the agent that it runs, and about the others who take part in what it does."""
    told = cast(dict[str, Json], _AGENT.dump_python(agent, mode="json"))
    own = {name: value for name, value in told.items() if name not in _TOLD_OTHERWISE}
    return {**own, "cast": [_AGENT.dump_python(one, mode="json") for one in others]} if others else own


def definitions(name: str, backend: Backend, settings: Mapping[str, Json]) -> tuple[AgentDefinition, ...]:
    """What `settings` were made from: the agent, then the others."""
    others = cast(Sequence[Json], settings.get("cast", ()))
    found = _AGENT.validate_python({**settings, "name": name, "backend": backend})
    return (found, *(_AGENT.validate_python(one) for one in others))
