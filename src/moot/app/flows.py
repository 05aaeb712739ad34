"""The steps of a workflow file: read by the engine beside the rest of it, so that all that is wrong is told at once."""

from collections.abc import Mapping
from typing import cast

from moot.app import flow_agents, flow_files
from moot.app.project import Project
from moot.core.library import Files
from moot.core.records import record, replace
from moot.core.yaml import Document
from moot.engine.definition import Definition
from moot.engine.files import linking, proofreading
from moot.workflow import drafts
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.reading import Draft
from moot.workflow.shape import FLOW_SECTIONS, FileShape


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
    unknown = flow_agents.unknown(flow.own, draft.workflow, draft.document)
    for problem in (*unknown, *flow_agents.unclear(flow.definition, draft.workflow)):
        draft.faults.add(draft.document, problem)
    absent = flow_agents.absent(flow.definition, draft.workflow, draft.document)
    warnings = (*draft.workflow.warnings, *flow.definition.warnings, *absent)
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
