"""A file that names agents, and what to say to them first: enough for `moot serve --agents` and the demo."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moot.backends.script import Line
from moot.core import problems, yaml
from moot.core.errors import InvalidInput, MootError
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.yaml import Document
from moot.registry import names
from moot.registry.agents import NewAgent
from moot.tools import table


class ScenarioInvalid(InvalidInput):
    code = "SCENARIO_INVALID"


class _Agent(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    backend: Literal["scripted", "external"] = "scripted"
    description: str = ""
    transport: Literal["direct", "mcp"] = "direct"
    script: tuple[Line, ...] = Field(default=(), strict=False)


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
        document = yaml.read(file.read_bytes(), str(file))
    except OSError as error:
        raise ScenarioInvalid(f"{file} cannot be read: {error.strerror}.", "Check the path.") from error
    found = _checked(document)
    written: Mapping[str, Any] = document.data["agents"]
    agents = (_new(name, agent, written[name], file) for name, agent in found.agents.items())
    return Scenario(tuple(agents), found.kickoff)


def _checked(document: Document) -> _File:
    if document.data is None:
        raise ScenarioInvalid(f"{document.name} is empty.", "See docs/scripted-agents.md for an example.")
    try:
        found = _File.model_validate(document.data)
    except ValidationError as error:
        raise _refusal(problems.found(error, _File, document.data), document) from error
    wrong = [*_wrong_names(found), *_unknown_tools(found)]
    if wrong:
        raise _refusal(wrong, document)
    return found


def _refusal(wrong: list[Problem], document: Document) -> ScenarioInvalid:
    return problems.together(problems.errors(wrong, document, ScenarioInvalid), document.name)


def _wrong_names(file: _File) -> Iterator[Problem]:
    for name in file.agents:
        try:
            names.check_agent(name)
        except MootError as error:
            yield problems.of_error(("agents", name), error, is_key=True)


def _unknown_tools(file: _File) -> Iterator[Problem]:
    """Found here and not when the line is played, which may be never or hours later."""
    for name, agent in file.agents.items():
        for at, line in enumerate(agent.script):
            for number, call in enumerate(line.calls):
                for tool in call.keys() - table.TOOLS.keys():
                    path = ("agents", name, "script", at, "calls", number, tool)
                    yield Problem(path, f"there is no tool `{tool[:80]}`", hint(tool, table.TOOLS), is_key=True)


def _new(name: str, agent: _Agent, written: Mapping[str, Any], file: Path) -> NewAgent:
    return NewAgent(
        name=name,
        runtime=agent.backend,
        backend=agent.backend,
        label=agent.description or "worker",
        settings={"transport": agent.transport, "script": written.get("script", [])},
        metadata={"source": file.name},
    )
