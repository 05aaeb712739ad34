"""Reads a workflow file, and those it names, into a `Workflow`. Knows neither tools nor scripts nor what agents may be
called: whoever does goes on with the draft."""

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, cast

from moot.core import library, problems, yaml
from moot.core.errors import MootError
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import (
    agent_files,
    catalog,
    checking,
    connecting,
    drafts,
    inputs,
    pattern_checks,
    redirecting,
    teams,
    templates,
)
from moot.workflow.catalog import Catalog
from moot.workflow.connecting import Declared, Known
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.gathering import Gatherer, settle_backends
from moot.workflow.members import Flags, Member, Reader
from moot.workflow.merging import Layer, budget
from moot.workflow.shape import (
    FLOW_SECTIONS,
    ConfigShape,
    ContextShape,
    DefaultsShape,
    FileShape,
    InputShape,
    LimitsShape,
    NotifyShape,
    ProjectShape,
    TaskShape,
)
from moot.workflow.workflow import (
    NOTIFY_TIMEOUT,
    RUN_BUDGET,
    SETUP_TIMEOUT,
    Context,
    Input,
    Limits,
    Notify,
    SetupTask,
    TaskDefinition,
    TaskNeed,
    Value,
    Workflow,
    WorkflowInvalid,
)


@record
class Surroundings:
    """What a file's meaning depends on besides itself."""

    folders: Folders = field(default_factory=Folders)
    configs: tuple[Document, ...] = ()  # the project's, then the person's; their `defaults` count last
    own_config: str = ""  # the name of the person's
    flags: Flags = field(default_factory=Flags)
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    otherwise: Callable[[], Document | None] = lambda: None  # what runs members of a team of whom nobody says so


@record
class Draft:
    """As much of a workflow as could be read, and what is wrong with it."""

    document: Document
    faults: Faults
    workflow: Workflow | None
    members: Mapping[str, Member]  # the workflow's own agents, then everybody whom they lead to
    catalog: Catalog = field(default_factory=catalog.shipped)  # what the models are called

    def finish(self) -> Workflow:
        """The workflow, or WorkflowInvalid with everything that is wrong."""
        self.faults.refuse(self.document.name)
        assert self.workflow is not None
        return self.workflow


def draft(file: Path, around: Surroundings | None = None) -> Draft:
    """Read everything and note what is wrong; only what is no YAML at all is refused at once."""
    return draft_document(library.unwrapped(drafts.read_document(file)), file, around)


def draft_document(document: Document, file: Path, around: Surroundings | None = None) -> Draft:
    """The same for what was read already, as if it stood in the file."""
    around = around or Surroundings()
    if document.data is None:
        raise WorkflowInvalid(f"{document.name} is empty.", "See docs/workflows.md for an example.")
    faults = Faults()
    said = drafts.fit(FileShape, document, faults)
    if said is None or not _has_agents(said, document, faults):
        return Draft(document, faults, None, {})
    configs = _configs(around, faults)
    own_defaults = Layer(document, ("defaults",), file.parent, said.defaults) if said.defaults else None
    defaults = (*_defaults(own_defaults, configs), *_otherwise(said, around, faults))
    known = _catalog(configs, around, faults)
    own_layer = Layer(document, (), file.parent, DefaultsShape())
    beside = Known(
        (connecting.read(said.mcp_servers, own_layer, faults), *_servers(configs, around, faults)),
        _env(said.env),
        around.environ,
    )
    reader = Reader(document, file.parent, around.folders, defaults, around.flags, faults, known, beside)
    team = teams.read(said, document, faults)
    listed = {**(dict.fromkeys(team.parts) if team else {}), **(said.agents or {})}
    own = {name: reader.member(name, one) for name, one in listed.items()}
    found = _gathered(reader, own)
    workflow = replace(_workflow(said, file, document, found, faults, tuple(own)), team=team)
    workflow = replace(workflow, warnings=(*workflow.warnings, *_unnamed(found, around)))
    checking.check(workflow, document, found, around.environ, faults)
    return Draft(document, faults, workflow, found, known)


def _has_agents(said: FileShape, document: Document, faults: Faults) -> bool:
    """Or can do without: steps alone need nobody."""
    if said.agents or said.team or (said.steps is not None and said.kickoff is None and said.tasks is None):
        return True
    if "agents" not in document.data:  # or it was left out for what is wrong with it
        faults.add(document, _lacking(document.data))
    return False


def _lacking(data: Mapping[str, object]) -> Problem:
    """Whoever writes of state means steps; whoever says nothing of that, agents."""
    if any(one in data for one in FLOW_SECTIONS if one != "steps") and not {"kickoff", "tasks", "steps"} & data.keys():
        fact, remedy = "`steps` is missing in this file", "Say what is done, one step after the other."
        return Problem(("steps",), fact, remedy, is_key=True)
    return Problem(("agents",), "`agents` is missing in this file", "Say who takes part.", is_key=True)


def draft_agent(file: Path, around: Surroundings | None = None) -> Draft:
    """An agent file by itself. Whether its variables exist depends on the workflow that will use it."""
    around = around or Surroundings()
    faults = Faults()
    document = Document(str(file), {}, None)
    configs = _configs(around, faults)
    known = _catalog(configs, around, faults)
    beside = Known(_servers(configs, around, faults), environ=around.environ)
    defaults = _defaults(None, configs)
    reader = Reader(document, file.parent, around.folders, defaults, around.flags, faults, known, beside)
    name = file.stem
    try:
        read = agent_files.read(file)
    except MootError as error:
        faults.add(*agent_files.fault(file, error))
        return Draft(document, faults, None, {}, known)
    found = _gathered(reader, {name: reader.of_file(name, read)})
    first, *others = (one.definition for one in found.values())
    unnamed = _unnamed(found, around)
    workflow = Workflow(name, str(file.absolute()), (first,), cast=tuple(others), warnings=unnamed)
    return Draft(document, faults, workflow, found, known)


def _gathered(reader: Reader, own: Mapping[str, Member]) -> dict[str, Member]:
    found = Gatherer(reader, own).gather()
    pattern_checks.check(found, reader.faults)
    return settle_backends(found, reader)


def catalog_of(around: Surroundings) -> Catalog:
    """What the configurations make of the models; WorkflowInvalid tells what is wrong with them."""
    faults = Faults()
    found = _catalog(_configs(around, faults), around, faults)
    faults.refuse("config.yaml")
    return found


def _configs(around: Surroundings, faults: Faults) -> list[tuple[Document, ProjectShape]]:
    read = ((one, drafts.fit(ProjectShape, one, faults)) for one in around.configs if one.data is not None)
    return [(document, said) for document, said in read if said is not None]


def _catalog(configs: list[tuple[Document, ProjectShape]], around: Surroundings, faults: Faults) -> Catalog:
    own = [said for document, said in configs if document.name == around.own_config]
    known = catalog.of_configs([said.models for said in own if said.models is not None])
    for document, said in configs:
        for problem in redirecting.found(said, known) if document.name != around.own_config else ():
            faults.add(document, problem)
    return catalog.of_configs([said.models for _, said in configs if said.models is not None])


def _defaults(own: Layer | None, configs: list[tuple[Document, ProjectShape]]) -> tuple[Layer, ...]:
    layers = [own] if own else []
    for config, found in configs:
        if found.defaults is not None:
            layers.append(Layer(config, ("defaults",), Path(config.name).parent, found.defaults))
    return tuple(layers)


def _otherwise(said: FileShape, around: Surroundings, faults: Faults) -> tuple[Layer, ...]:
    """In a team the first that works here runs whoever says nothing."""
    found = around.otherwise() if said.team is not None else None
    return (
        () if found is None else _defaults(None, [(found, drafts.fit(ProjectShape, found, faults) or ProjectShape())])
    )


def _servers(
    configs: list[tuple[Document, ProjectShape]], around: Surroundings, faults: Faults
) -> tuple[Mapping[str, Declared], ...]:
    return tuple(
        connecting.read(
            said.mcp_servers,
            Layer(config, (), Path(config.name).parent, DefaultsShape()),
            faults,
            is_own=config.name == around.own_config,
        )
        for config, said in configs
    )


def _unnamed(found: Mapping[str, Member], around: Surroundings) -> tuple[str, ...]:
    wanted = ((one.definition.tools or (), one.servers) for one in found.values())
    return connecting.unnamed(wanted, frozenset(one.name for one in around.configs))


def _workflow(
    said: FileShape,
    file: Path,
    document: Document,
    found: Mapping[str, Member],
    faults: Faults,
    names: tuple[str, ...],
) -> Workflow:
    own = [found[name].definition for name in names]
    context, warnings = _context(said.context, document, frozenset(names), faults)
    return Workflow(
        name=said.name or file.stem,
        file=str(file.absolute()),
        agents=tuple(own),
        inputs=inputs_of(said.inputs or {}, document, faults),
        env=_env(said.env),
        context=context,
        setup=tuple(SetupTask(one.shell, one.name, one.timeout or SETUP_TIMEOUT) for one in said.setup or ()),
        kickoff=said.kickoff or "",
        tasks=tuple(task_of(one) for one in said.tasks or ()),
        max_parallel_tasks=said.max_parallel_tasks or 1,
        makes_workspaces=bool(said.auto_create_workspaces),
        is_together=bool(said.together),
        notify=_notify(said.notify),
        budget=budget(said.budget, RUN_BUDGET),
        limits=_limits(said.limits),
        result="" if _is_of_engine(said) else said.result or "",
        warnings=warnings,
        cast=tuple(one.definition for name, one in found.items() if name not in names),
        description=said.description or "",
        version=said.version or "",
    )


def _is_of_engine(said: FileShape) -> bool:
    """Whether the result is evaluated when the steps are over, and not put together from variables."""
    return said.steps is not None and templates.is_of_steps(said.result or "")


def task_of(said: TaskShape) -> TaskDefinition:
    return TaskDefinition(
        name=said.name,
        description=said.description,
        needs=tuple(TaskNeed(one) if isinstance(one, str) else TaskNeed(one.task, one.type) for one in said.depends_on),
        agent=said.agent,
        parallel_group=said.parallel_group,
        complexity=said.estimated_complexity,
        files=tuple(said.files_likely_affected),
        capabilities=tuple(said.capabilities),
        checks=tuple(dict(one) for one in said.checks),
    )


def inputs_of(said: Mapping[str, InputShape | None], document: Document, faults: Faults) -> tuple[Input, ...]:
    found: list[Input] = []
    for name, one in said.items():
        wanted = one or InputShape()
        new = Input(name, wanted.type, wanted.required, None, wanted.description, tuple(wanted.options or ()))
        default: Value = None
        if wanted.default is not None:
            try:
                default = inputs.check(new, wanted.default)
            except MootError as error:
                fact = error.fact.replace(f"`{name}`", f"`inputs.{name}.default`").rstrip(".")
                faults.add(document, Problem(("inputs", name, "default"), fact, error.remedy))
        found.append(Input(name, new.type, new.is_required, default, new.description, new.options))
    return tuple(found)


def _env(said: object) -> dict[str, str | None]:
    if isinstance(said, list):
        return dict.fromkeys(cast(list[str], said))
    declared = cast(Mapping[str, Any], said or {})
    return {name: None if value is None else templates.spell(value) for name, value in declared.items()}


def _notify(said: str | NotifyShape | None) -> Notify | None:
    if said is None or isinstance(said, str):
        return None if said is None else Notify(said)
    return Notify(said.shell, said.timeout or NOTIFY_TIMEOUT)


def _limits(said: LimitsShape | None) -> Limits:
    otherwise, given = Limits(), said.model_fields_set if said else set[str]()
    return Limits(
        said.hops if said and "hops" in given else otherwise.hops,
        said.ping_pong if said and "ping_pong" in given else otherwise.ping_pong,
    )


def _context(
    said: bool | ContextShape | None, document: Document, agents: frozenset[str], faults: Faults
) -> tuple[Context, tuple[str, ...]]:
    if said is None or isinstance(said, bool):
        return Context(is_on=said is not False), ()
    config = said.config or ConfigShape()
    place, owner, warnings = _owner(said, config, document, faults)
    rule, name = "default", None
    match owner:
        case None:
            pass
        case False | "none":
            rule = "none"
        case "elect":
            rule = "elect"
        case True:
            faults.add(document, Problem(place, f"`{problems.spell(place)}` must be a name, elect or none", "Say who."))
        case str():
            rule, name = "named", _agent_called(owner, agents)
            if name is None:
                fact = f"`{problems.spell(place)}` names `{owner[:80]}`, who is not among the agents"
                faults.add(document, Problem(place, fact, hint(owner, [*agents, "elect", "none"])))
    standard = Context()
    return Context(
        provider=said.provider,
        owner_rule=rule,
        owner=name,
        dir=config.dir or standard.dir,
        channel=config.channel or standard.channel,
        document=config.document or standard.document,
        documents=tuple(config.documents or ()),
    ), (*warnings, *_unused(said, config, document))


def _unused(said: ContextShape, config: ConfigShape, document: Document) -> tuple[str, ...]:
    if said.provider != "memory" or config.dir is None:
        return ()
    line, column = document.place(_spelled(document, ("context", "config"), "dir"), key=True)
    return (f"{document.name}:{line}:{column}: dir is not used, because provider: memory keeps no files.",)


def _owner(
    said: ContextShape, config: ConfigShape, document: Document, faults: Faults
) -> tuple[yaml.Path, str | bool | None, tuple[str, ...]]:
    outer, inner = (_spelled(document, path, "document_owner") for path in (("context",), ("context", "config")))
    if config.document_owner is None:
        return outer, said.document_owner, ()
    if said.document_owner is not None:
        faults.add(document, Problem(inner, "`document_owner` stands in `context` already", "Keep that one.", True))
    line, column = document.place(inner, key=True)
    where = f"{document.name}:{line}:{column}"
    return inner, config.document_owner, (f"{where}: document_owner belongs one level higher, under context.",)


def _spelled(document: Document, path: yaml.Path, name: str) -> yaml.Path:
    return Layer(document, path, Path(), DefaultsShape()).place(name) if path else (name,)


def _agent_called(name: str, agents: frozenset[str]) -> str | None:
    known = {one.casefold(): one for one in (*agents, "human")}
    return known.get(name.removeprefix("@").casefold())
