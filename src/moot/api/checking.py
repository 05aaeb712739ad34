"""Looks at a workflow without running it: what is wrong, who would run where, and whom the first words wake."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.api import access
from moot.app import references, workflows
from moot.app.choosing import Choice
from moot.app.workflows import Casting, Loaded
from moot.backends.script import Line
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.models.scripted import AnswerLine
from moot.workflow import inputs, schema, stored
from moot.workflow.members import Flags
from moot.workflow.workflow import AgentDefinition, Workflow, WorkflowInvalid


@dataclass(frozen=True, slots=True)
class Checked:
    """A file with nothing wrong in it; whether all of its agents can be run here is another matter."""

    casting: Casting
    woken: tuple[str, ...]  # by the kickoff

    @property
    def workflow(self) -> Workflow:
        return self.casting.workflow


@dataclass(frozen=True, slots=True)
class CheckedAgent:
    """An agent file with nothing wrong in it."""

    casting: Casting

    @property
    def agent(self) -> AgentDefinition:
        return self.casting.workflow.agents[0]


def check(target: str, given: Sequence[str] = (), flags: Flags | None = None) -> Checked | CheckedAgent:
    """Read a workflow, by path or name, or an agent file; WorkflowInvalid tells everything that is wrong."""
    project = access.find_project()
    if target.endswith(".md"):
        return CheckedAgent(workflows.cast_agent(project, Path(target)))
    casting = workflows.cast(project, workflows.find(project, target), flags)
    if given:
        inputs.parse(casting.workflow.inputs, given, Path.cwd())
    return Checked(casting, references.woken(casting.workflow))


def of_loaded(loaded: Loaded) -> Checked:
    """The same of a workflow that can be run at once."""
    return Checked(Casting(loaded.workflow, loaded.choices, {}), references.woken(loaded.workflow))


def by_name() -> dict[str, Path]:
    """The workflows that can be run by name."""
    return workflows.names(access.find_project())


def editor_schema() -> dict[str, Json]:
    """The JSON Schema of workflow files, with the lines of scripts."""
    return schema.schema(Line.model_json_schema(by_alias=True), AnswerLine.model_json_schema(by_alias=True))


def plain(found: Checked | CheckedAgent) -> dict[str, Json]:
    """As JSON for programs."""
    is_ok = not found.casting.obstacles
    if isinstance(found, CheckedAgent):
        agent = found.agent
        return {"ok": is_ok, "agent": {"name": agent.name, **stored.settings(agent)}, **_cast(found.casting)}
    told = dict(stored.to_json(found.workflow))
    warnings = told.pop("warnings")
    return {"ok": is_ok, "workflow": told, "wakes": found.woken, **_cast(found.casting), "warnings": warnings}


def refused(error: InvalidInput) -> dict[str, Json]:
    """Why it cannot be run, as JSON for programs: each problem with its place, where it has one."""
    faults = error.faults if isinstance(error, WorkflowInvalid) else ()
    placed: list[Json] = [
        {"file": one.file, "line": one.line, "column": one.column, "fact": one.fact, "remedy": one.remedy}
        for one in faults
    ]
    return {"ok": False, "code": error.code, "problems": placed or [{"fact": error.fact, "remedy": error.remedy}]}


def _cast(casting: Casting) -> dict[str, Json]:
    obstacles: dict[str, Json] = {
        name: {"fact": one.fact, "remedies": one.remedies} for name, one in casting.obstacles.items()
    }
    return {"runs": {name: choice(one) for name, one in casting.choices.items()}, "cannot_run": obstacles}


def choice(found: Choice) -> dict[str, Json]:
    return {"backend": found.backend, "model": found.model, "why": found.why, "account": found.account}
