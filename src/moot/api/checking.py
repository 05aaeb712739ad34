"""Looks at a workflow without running it: what is wrong, who would run where, and whom the first words wake."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.api import access
from moot.app import references, workflows
from moot.backends.script import Line
from moot.core.json import Json
from moot.workflow import inputs, schema, stored
from moot.workflow.workflow import AgentDefinition, Workflow


@dataclass(frozen=True, slots=True)
class Checked:
    """A file with nothing wrong in it."""

    workflow: Workflow
    woken: tuple[str, ...]  # by the kickoff
    obstacles: dict[str, str]  # by agent: why this version of moot cannot run it


def check(target: str, given: Sequence[str] = ()) -> Checked | AgentDefinition:
    """Read a workflow, by path or name, or an agent file; WorkflowInvalid tells everything that is wrong."""
    project = access.find_project()
    if target.endswith(".md"):
        return workflows.read_agent(project, Path(target))
    workflow = workflows.read(project, workflows.find(project, target))
    if given:
        inputs.parse(workflow.inputs, given, Path.cwd())
    return of_workflow(workflow)


def of_workflow(workflow: Workflow) -> Checked:
    """Who could not be run, and whom the kickoff wakes."""
    found = {agent.name: why for agent in workflow.agents if (why := workflows.obstacle(agent))}
    return Checked(workflow, references.woken(workflow), found)


def by_name() -> dict[str, Path]:
    """The workflows that can be run by name."""
    return workflows.names(access.find_project())


def editor_schema() -> dict[str, Json]:
    """The JSON Schema of workflow files, with the lines of scripts."""
    return schema.schema(Line.model_json_schema(by_alias=True))


def plain(found: Checked | AgentDefinition) -> dict[str, Json]:
    """As JSON for programs."""
    if isinstance(found, AgentDefinition):
        return {"ok": True, "agent": {"name": found.name, **stored.settings(found)}}
    told = dict(stored.to_json(found.workflow))
    warnings = told.pop("warnings")
    return {"ok": True, "workflow": told, "wakes": found.woken, "cannot_run": found.obstacles, "warnings": warnings}
