"""The stored form of a workflow: plain JSON, kept with the run so that it goes on as it was begun whatever becomes of
the files."""

from collections.abc import Mapping
from typing import cast

from pydantic import TypeAdapter

from moot.core.json import Json
from moot.workflow.workflow import AgentDefinition, Workflow

_FORM: TypeAdapter[Workflow] = TypeAdapter(Workflow)
_AGENT: TypeAdapter[AgentDefinition] = TypeAdapter(AgentDefinition)


def to_json(workflow: Workflow) -> Mapping[str, Json]:
    return cast(Mapping[str, Json], _FORM.dump_python(workflow, mode="json"))


def from_json(stored: Mapping[str, Json]) -> Workflow:
    return _FORM.validate_python(stored)


def settings(agent: AgentDefinition) -> Mapping[str, Json]:
    """What a backend is told about the agent that it runs."""
    told = cast(dict[str, Json], _AGENT.dump_python(agent, mode="json"))
    return {name: value for name, value in told.items() if name not in ("name", "backend", "description")}
