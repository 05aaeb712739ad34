"""The steps of a workflow file: read by the engine beside the rest of it, so that all that is wrong is told at once."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import cast

from moot.app import flow_files
from moot.app.project import Project
from moot.core import problems, schemas
from moot.core.library import Files
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.records import record, replace
from moot.core.yaml import Document
from moot.engine.definition import Definition
from moot.engine.files import linking, proofreading
from moot.engine.step import Step
from moot.registry import names
from moot.workflow import drafts
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.reading import Draft
from moot.workflow.shape import FLOW_SECTIONS, FileShape
from moot.workflow.workflow import Workflow


@record
class Flow:
    """What the engine makes of a file, and the texts that this was made from."""

    definition: Definition
    own: Definition  # what stands in the file itself
    files: Files


def read(draft: Draft, project: Project, folders: Folders) -> Draft:
    """The draft with the texts of its steps, and with what is wrong in them among its faults."""
    data = draft.document.data
    if not isinstance(data, Mapping) or not any(one in cast(Mapping[str, object], data) for one in FLOW_SECTIONS):
        return draft
    flow = join(draft.document, project, folders, draft.faults)
    if draft.workflow is None or "steps" not in data:
        return draft
    for problem in _unknown_agents(flow.own, draft.workflow, draft.document):
        draft.faults.add(draft.document, problem)
    warnings = (*draft.workflow.warnings, *flow.definition.warnings)
    return replace(draft, workflow=replace(draft.workflow, flow=flow.files, warnings=warnings))


def join(document: Document, project: Project, folders: Folders, faults: Faults) -> Flow:
    """The definition with everything that it leads to; what is wrong in any of its files goes to the faults."""
    gathered = flow_files.gather(document, project, folders)
    proofreading.proofread(one.notes for one in gathered.readings.values())
    linked = linking.link(gathered.readings, gathered.refused)
    for one in gathered.readings.values():
        if one.notes.document is not document:
            drafts.fit(FileShape, one.notes.document, faults)
    for where, problem in linked.found:
        if where is not document or problem.path[:1] != ("inputs",):  # both read them, and the workflow has told it
            faults.add(where, problem)
    own, *_ = gathered.readings.values()
    return Flow(linked.definition, own.definition, gathered.files)


def _unknown_agents(definition: Definition, workflow: Workflow, document: Document) -> Iterator[Problem]:
    """Whom its own steps name, if it says who there is."""
    own = [one.name for one in workflow.agents]
    known = {names.fold(name) for name in own}
    tasks = chain(*((*one.steps, *one.cleanup) for one in definition.tasks.values()))
    for step in _all((*definition.steps, *definition.errors.on_failure, *tasks)) if own else ():
        path = (*step.place, "agent")
        named = schemas.value_at(document.data, path)
        if isinstance(named, str) and named and "{{" not in named and names.fold(named) not in known:
            fact = f"`{problems.spell(path)}` names `{named[:80]}`, who is not among the agents"
            yield Problem(path, fact, hint(named, own))


def _all(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        for block in step.blocks.values():
            yield from _all(block)
