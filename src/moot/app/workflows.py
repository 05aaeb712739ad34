"""Workflows of a project: found by name or path, read, checked against all that moot knows, made ready to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from moot.app import context_folders, references
from moot.app.project import PEOPLE_FOLDER, Project
from moot.core import json, yaml
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.yaml import Document
from moot.registry.agents import NewAgent
from moot.workflow import finding, inputs, reading, stored, templates, variables
from moot.workflow.finding import Folders
from moot.workflow.members import Flags
from moot.workflow.reading import Surroundings
from moot.workflow.workflow import AgentDefinition, Context, Value, Workflow

RUNNABLE = frozenset(("scripted", "human", "external"))
_TALK = "Give it a script, or let it join by itself (backend: external, then moot mcp --as {name})."


class BackendUnavailable(InvalidInput):
    """An agent cannot be run here."""

    code = "BACKEND_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A workflow that can be run at once."""

    workflow: Workflow
    source: str  # the file, as lists show it
    given: Mapping[str, Json]  # the variables that are known before setup
    members: tuple[NewAgent, ...]


def load(project: Project, target: str, instance: str, given: Sequence[str] = (), flags: Flags | None = None) -> Loaded:
    """Read and check everything before anything happens. `given` is what `--input` says."""
    file = find(project, target)
    workflow = read(project, file, flags)
    check_runnable(workflow)
    values = variables.values(workflow, instance, inputs.parse(workflow.inputs, given, Path.cwd()))
    settled = replace(workflow, context=_settled(workflow.context, values))
    context_folders.check(settled.context, project.root, instance)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return Loaded(settled, workflow.source, plain, members(settled))


def find(project: Project, target: str) -> Path:
    """The file that `moot run TARGET` means."""
    return finding.workflow_file(target, _folders(project))


def names(project: Project) -> dict[str, Path]:
    """The workflows that can be run by name."""
    return finding.workflow_names(_folders(project))


def read(project: Project, file: Path, flags: Flags | None = None) -> Workflow:
    """The workflow of a file; WorkflowInvalid tells everything that is wrong with it."""
    around = Surroundings(_folders(project), tuple(_configs(project)), flags or Flags())
    draft = reading.draft(file, around)
    references.check(draft)
    workflow = draft.finish()
    return replace(workflow, warnings=(*workflow.warnings, *_warnings(workflow)))


def read_agent(project: Project, file: Path) -> AgentDefinition:
    """The agent of an agent file, by itself."""
    draft = reading.draft_agent(file, Surroundings(_folders(project)))
    references.check(draft)
    return draft.finish().agents[0]


def agents_of(project: Project, file: Path) -> tuple[NewAgent, ...]:
    """Only the agents of a file, whatever else it says; they can be run."""
    workflow = read(project, file)
    check_runnable(workflow)
    return members(workflow)


def new_agent(project: Project, name: str, said: Mapping[str, Json]) -> NewAgent:
    """An agent that stands alone, by what would stand in a workflow file; paths are relative to the current folder."""
    document = yaml.read(json.pretty({"agents": {name: said}}), "moot new")
    around = Surroundings(_folders(project), tuple(_configs(project)), Flags())
    draft = reading.draft_document(document, Path.cwd() / "moot.yaml", around)
    references.check(draft)
    workflow = draft.finish()
    check_runnable(workflow)
    return replace(members(workflow)[0], metadata={})


def members(workflow: Workflow) -> tuple[NewAgent, ...]:
    """Its agents, as the registry takes them in."""
    return tuple(_member(agent, workflow.source) for agent in workflow.agents)


def check_runnable(workflow: Workflow) -> None:
    """BackendUnavailable names every agent that this version of moot cannot run, and what can be done."""
    problems = {agent.name: found for agent in workflow.agents if (found := obstacle(agent))}
    if problems:
        lines = [f"  {name}: {fact}" for name, fact in problems.items()]
        fact = "\n".join(["Not all agents can be run by this version of moot:", *lines])
        raise BackendUnavailable(fact, _TALK.format(name=next(iter(problems))))


def obstacle(agent: AgentDefinition) -> str | None:
    """Why this version of moot cannot run the agent."""
    if agent.backend is None:
        return f"models ({agent.model}) cannot be run yet"
    if agent.backend not in RUNNABLE:
        return f"the backend {agent.backend} cannot be run yet"
    if agent.workspace == "worktree":
        return "a worktree of its own cannot be made yet"
    return None


def _warnings(workflow: Workflow) -> list[str]:
    if not workflow.kickoff:
        return ["There is no kickoff: the agents wait until somebody speaks to them."]
    if not references.woken(workflow):
        return ["The kickoff mentions nobody, so it wakes nobody."]
    return []


def _settled(context: Context, values: Mapping[str, Value]) -> Context:
    """The names of files are known before anything runs."""

    def fill(text: str) -> str:
        return templates.expand(text, values).text

    return replace(
        context,
        dir=fill(context.dir),
        channel=fill(context.channel),
        document=fill(context.document),
        documents=tuple(fill(one) for one in context.documents),
    )


def _member(agent: AgentDefinition, source: str) -> NewAgent:
    backend = agent.backend or ""
    return NewAgent(
        name=agent.name,
        runtime=backend,
        backend=backend,
        label=agent.description or "worker",
        settings=stored.settings(agent),
        metadata={"source": source},
    )


def _folders(project: Project) -> Folders:
    return Folders(tuple(dict.fromkeys((project.root / PEOPLE_FOLDER, Path.home() / PEOPLE_FOLDER))))


def _configs(project: Project) -> list[Document]:
    files = [folder / "config.yaml" for folder in _folders(project).people]
    return [yaml.read(file.read_bytes(), str(file)) for file in files if file.is_file()]
