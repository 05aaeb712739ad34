"""Workflows of a project: found by name or path, read, checked against all that moot knows, made ready to run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from moot.app import choosing, context_folders, flows, references, shadows, shelves, trust
from moot.app.choosing import Choice, Machine, Obstacle
from moot.app.project import PEOPLE_FOLDER, Project
from moot.app.shadows import Shadow
from moot.app.teams import parts
from moot.core import json, nearest, problems, workspace_tools, yaml
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.core.yaml import Document
from moot.registry.agents import NewAgent
from moot.tools import sharing
from moot.workflow import finding, graph, inputs, reading, stored, templates, variables
from moot.workflow.catalog import Catalog
from moot.workflow.members import Flags, Member
from moot.workflow.reading import Draft, Surroundings
from moot.workflow.workflow import AgentDefinition, Budget, Context, Value, Workflow


class BackendUnavailable(InvalidInput):
    """An agent cannot be run here."""

    code = "BACKEND_UNAVAILABLE"


@record
class Loaded:
    """A workflow that can be run at once."""

    workflow: Workflow
    source: str  # the file, as lists show it
    given: Mapping[str, Json]  # the variables that are known before setup
    members: tuple[NewAgent, ...]
    choices: Mapping[str, Choice]  # what runs each agent
    shadow: Shadow | None = None  # if it hides another, which was not told yet


@record
class Casting:
    """A workflow, and what runs each of its agents, or why nothing does."""

    workflow: Workflow  # with the backends that were chosen
    choices: Mapping[str, Choice]
    obstacles: Mapping[str, Obstacle]
    files: tuple[str, ...] = ()  # of the project, from which all this was read

    def complete(self) -> Workflow:
        """BackendUnavailable names every agent that cannot be run here, and what can be done."""
        if self.obstacles:
            lines = [f"  {name}: {one.fact}" for name, one in self.obstacles.items()]
            fact = "\n".join(["Not all agents can be run here:", *lines])
            raise BackendUnavailable(fact, choosing.remedy(self.obstacles.values()))
        return self.workflow


def load(
    project: Project,
    target: str,
    instance: str,
    given: Sequence[str] = (),
    flags: Flags | None = None,
    machine: Machine | None = None,
) -> Loaded:
    """Read and check everything before anything happens. `given` is what `--input` says."""
    file = find(project, target)
    found = _ready(project, cast(project, file, flags, machine), instance, given)
    if flags is not None and flags.functions:
        found = replace(found, workflow=replace(found.workflow, functions=flags.functions))
    shadow = shadows.of(project, target, file)
    if shadow is None or shadows.is_known(project, shadow):
        return found
    told = replace(found.workflow, warnings=(*found.workflow.warnings, shadow.told))
    return replace(found, workflow=told, shadow=shadow)


def load_document(project: Project, document: Document, file: Path, instance: str, said: Flags) -> Loaded:
    """The same for what was put together, as if it stood in the file."""
    draft = _checked(project, reading.draft_document(document, file, _around(project, said)))
    found = _cast(draft, _finished(draft), said, choosing.this_machine(project.root))
    return _ready(project, replace(found, files=_files(draft, project.root)), instance, ())


def _ready(project: Project, found: Casting, instance: str, given: Sequence[str]) -> Loaded:
    workflow = found.complete()
    if workflow.team is not None and not workflow.kickoff.strip():
        raise InvalidInput(
            f"The team of {workflow.source} has no goal.", "Say it as its kickoff, or: moot team up GOAL"
        )
    values = variables.values(workflow, instance, inputs.parse(workflow.inputs, given, Path.cwd()))
    settled = replace(workflow, context=_settled(workflow.context, values))
    context_folders.check(settled.context, project.root, instance)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return Loaded(settled, workflow.source, plain, members(settled, found.files), found.choices)


def find(project: Project, target: str) -> Path:
    """The file that `moot run TARGET` means."""
    return finding.workflow_file(target, shelves.folders_of(project))


def names(project: Project) -> dict[str, Path]:
    """The workflows that can be run by name."""
    return finding.workflow_names(shelves.folders_of(project))


def catalog(project: Project) -> Catalog:
    """The models that are known here."""
    return reading.catalog_of(_around(project))


def read(project: Project, file: Path, flags: Flags | None = None) -> Workflow:
    """The workflow of a file; WorkflowInvalid tells everything that is wrong with it."""
    return _finished(_drafted(project, file, flags or Flags()))


def cast(project: Project, file: Path, flags: Flags | None = None, machine: Machine | None = None) -> Casting:
    """The workflow of a file with what runs its agents on this machine."""
    said = flags or Flags()
    draft = _drafted(project, file, said)
    found = _cast(draft, _finished(draft), said, machine or choosing.this_machine(project.root))
    return replace(found, files=_files(draft, project.root))


def cast_agent(project: Project, file: Path, machine: Machine | None = None, flags: Flags | None = None) -> Casting:
    """The agent of an agent file, with everybody it leads to."""
    said = flags or Flags()
    draft = reading.draft_agent(file, _around(project, said))
    references.check(draft)
    found = _cast(draft, draft.finish(), said, machine or choosing.this_machine(project.root))
    told = [*found.workflow.warnings, *_absent(found.workflow)]
    return replace(
        found,
        workflow=replace(found.workflow, warnings=tuple(told)),
        obstacles={name: _alone(one) for name, one in found.obstacles.items()},
        files=_files(draft, project.root),
    )


def _alone(obstacle: Obstacle) -> Obstacle:
    """Of what would help, what can be done about an agent file: moot ask has no --backend, and nobody joins there."""
    kept = [one for one in obstacle.remedies if "--backend" not in one and "backend: external" not in one]
    return replace(obstacle, remedies=(*kept, "Name another model in its file."))


def _absent(workflow: Workflow) -> Iterator[str]:
    """Who is asked by itself shares nothing with anybody."""
    for agent in workflow.everybody.values():
        shared = [one for one in agent.tools or () if one.startswith(sharing.SHARED)]
        if shared:
            yield f"{agent.name}: {', '.join(shared)} will not be there in moot ask, only in a workflow."


def load_agent(project: Project, target: str, instance: str, flags: Flags | None = None) -> Loaded:
    """The agent of an agent file by itself, ready to be asked something: it shares nothing with anybody, and works in
    the current folder."""
    folders = shelves.folders_of(project)
    file = finding.agent_file(target, Path.cwd(), folders)
    if file is None:
        raise InvalidInput(f"There is no agent file {target[:200]!r}.", _agent_hint(target, folders))
    found = cast_agent(project, file, flags=flags)
    workflow = replace(found.complete(), context=_settled(Context(is_on=False), {"instance": instance}))
    folder = Path.cwd().resolve().relative_to(project.root.resolve())
    files = [str(Path(one).relative_to(folder)) for one in found.files if Path(one).is_relative_to(folder)]
    placed = tuple(
        replace(one, settings={**one.settings, "folder": str(folder)}) if folder != Path() else one
        for one in members(workflow, files)
    )
    return Loaded(workflow, workflow.source, {}, placed, found.choices)


def _agent_hint(target: str, folders: finding.Folders) -> str:
    near = nearest.near_file(Path(target), (".md",)) or nearest.nearest(target, finding.agent_names(folders.agents()))
    if near is not None:
        return f"Did you mean `{near}`?"
    return "Write the path of a file, or put it into .moot/agents/ and give its name."


def agents_of(project: Project, file: Path) -> tuple[NewAgent, ...]:
    """Only the agents of a file, whatever else it says; they can be run."""
    found = cast(project, file)
    return members(found.complete(), found.files)


def new_agent(project: Project, name: str, said: Mapping[str, Json]) -> NewAgent:
    """An agent that stands alone, by what would stand in a workflow file; paths are relative to the current folder."""
    document = yaml.read(json.pretty({"agents": {name: said}}), "moot new")
    draft = reading.draft_document(document, Path.cwd() / "moot.yaml", _around(project))
    references.check(draft)
    workflow = _cast(draft, draft.finish(), Flags(), choosing.this_machine(project.root)).complete()
    return replace(members(workflow)[0], metadata={})


def members(workflow: Workflow, files: Sequence[str] = ()) -> tuple[NewAgent, ...]:
    """Its agents, as the registry takes them in; none of them may change the files."""
    everybody = workflow.everybody
    patterns = {name: one.patterns for name, one in everybody.items()}
    return tuple(
        _member(agent, [everybody[name] for name in graph.reached(agent.name, patterns)], workflow, files)
        for agent in workflow.agents
    )


def _drafted(project: Project, file: Path, flags: Flags) -> Draft:
    _ = project.config  # what is wrong in it is told by `moot check` too, and not only by who runs something
    return _checked(project, reading.draft(file, _around(project, flags)), flags.functions)


def _checked(project: Project, read: Draft, functions: Sequence[str] = ()) -> Draft:
    draft = parts.fit(read)
    references.check(draft, functions)
    return flows.read(draft, project, shelves.folders_of(project))


def _finished(draft: Draft) -> Workflow:
    workflow = draft.finish()
    return replace(workflow, warnings=(*workflow.warnings, *_warnings(workflow)))


def _cast(draft: Draft, workflow: Workflow, flags: Flags, machine: Machine) -> Casting:
    here = replace(machine, may_change=True) if workflow.setup else machine
    choices: dict[str, Choice] = {}
    obstacles: dict[str, Obstacle] = {}
    settled: dict[str, AgentDefinition] = {}
    for name, agent in workflow.everybody.items():
        found = choosing.choose(agent, draft.catalog, here, _said_by(draft.members[name], flags))
        if workflow.makes_workspaces and isinstance(found, Choice):
            found = choosing.no_worktree(here, "Write auto_create_workspaces: false.") or found
        if isinstance(found, Obstacle):
            obstacles[name] = found
            settled[name] = agent
        else:
            choices[name] = found
            settled[name] = parts.equipped(choosing.settled(agent, found, draft.catalog), workflow)
    told = [
        f"{name}: {warning}"
        for name, choice in choices.items()
        for warning in choice.warnings(settled[name].permissions)
    ]
    told += [
        f"{name}: its commands are not confined, and have all your rights."
        for name in trust.unconfined(settled.values())
    ]
    told += [
        f"{one.name}: its `budget` does not hold here: it works for others, and uses theirs."
        for one in workflow.cast
        if one.budget != Budget()
    ]
    chosen = replace(
        workflow,
        agents=tuple(settled[one.name] for one in workflow.agents),
        cast=tuple(replace(settled[one.name], budget=Budget()) for one in workflow.cast),
        warnings=(*workflow.warnings, *told),
    )
    return Casting(chosen, choices, obstacles)


def _said_by(member: Member, flags: Flags) -> str:
    """Where an agent's backend is said."""
    backend = member.definition.backend
    if flags.backend is not None and backend == flags.backend:
        return "--backend"
    place = member.places.get("backend")
    if place is None:
        return "" if backend is None else "how it works with others" if backend == "api" else "its script"
    document, path = place
    return f"{problems.spell(path)} in {Path(document.name).name}"


def _warnings(workflow: Workflow) -> list[str]:
    if workflow.team is not None:
        return []
    if (workflow.tasks or workflow.flow) and not workflow.kickoff:
        return []
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


def _files(draft: Draft, root: Path) -> tuple[str, ...]:
    documents = [draft.document, *(document for one in draft.members.values() for document, _ in one.places.values())]
    found = {Path(one.name).resolve() for one in documents}
    found |= {(root / name).resolve() for name, _ in (draft.workflow.flow if draft.workflow else ())}
    return tuple(sorted(str(one.relative_to(root.resolve())) for one in found if one.is_relative_to(root.resolve())))


def _member(
    agent: AgentDefinition, others: Sequence[AgentDefinition], workflow: Workflow, files: Sequence[str]
) -> NewAgent:
    backend = agent.backend or ""
    part = workflow.team.parts[agent.name] if workflow.team else None
    settings = stored.settings(agent, others)
    if any(workspace_tools.chosen(one.tools or ()) for one in (agent, *others)):
        settings = {**settings, "files": list(files)}
    return NewAgent(
        name=agent.name,
        runtime=backend,
        backend=backend,
        role=part if part in ("lead", "reviewer") else "member",
        label=part or agent.description or "worker",
        settings=settings,
        capabilities=agent.capabilities,
        metadata={"source": workflow.source},
    )


def _around(project: Project, flags: Flags | None = None) -> Surroundings:
    own = str(Path.home() / PEOPLE_FOLDER / "config.yaml")
    said = flags or Flags()
    otherwise = partial(_first_backend, project)
    return Surroundings(shelves.folders_of(project), tuple(_configs(project)), own, said, otherwise=otherwise)


def _first_backend(project: Project) -> Document | None:
    """What runs members of a team of whom nothing is said, as a configuration would say it."""
    found = choosing.first(choosing.this_machine(project.root))
    return None if found is None else Document("the first that works here", {"defaults": dict(found)}, None)


def _configs(project: Project) -> list[Document]:
    files = [folder / "config.yaml" for folder in shelves.folders_of(project).people]
    return [yaml.read(file.read_bytes(), str(file)) for file in files if file.is_file()]
