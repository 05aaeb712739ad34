"""A file that names agents, and what to say to them first: enough for `moot serve --agents` and the demo."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from moot.backends import script
from moot.core import yaml
from moot.core.errors import InvalidInput, MootError
from moot.registry import names
from moot.registry.agents import NewAgent


class ScenarioInvalid(InvalidInput):
    code = "SCENARIO_INVALID"


class _Agent(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    backend: Literal["scripted", "external"] = "scripted"
    description: str = ""
    transport: Literal["direct", "mcp"] = "direct"
    script: list[JsonValue] = Field(default_factory=list[JsonValue])


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str = ""
    agents: Mapping[str, _Agent] = Field(min_length=1)
    kickoff: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    agents: tuple[NewAgent, ...]
    kickoff: str


def load(file: Path) -> Scenario:
    """Read and check the whole file before anything is done with it."""
    try:
        found = _File.model_validate(yaml.load(file.read_bytes(), str(file)))
    except OSError as error:
        raise ScenarioInvalid(f"{file} cannot be read: {error.strerror}.", "Check the path.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ScenarioInvalid(f"{file}: {where}: {first['msg']}.", "See docs/scripted-agents.md.") from error
    return Scenario(tuple(_new(name, agent, file) for name, agent in found.agents.items()), found.kickoff)


def _new(name: str, agent: _Agent, file: Path) -> NewAgent:
    settings: Mapping[str, JsonValue] = {"transport": agent.transport, "script": agent.script}
    try:
        names.check_agent(name)
        script.parse(settings)
    except MootError as error:
        raise ScenarioInvalid(f"{file}: agents.{name}: {error.fact}", error.remedy) from error
    return NewAgent(
        name=name,
        runtime=agent.backend,
        backend=agent.backend,
        label=agent.description or "worker",
        settings=settings,
        metadata={"source": file.name},
    )
