"""The steps of a workflow file: read by the engine beside the rest of it, so that all that is wrong is told at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from moot.app.project import Project
from moot.core.records import replace
from moot.engine import reading
from moot.workflow.reading import Draft
from moot.workflow.shape import FLOW_SECTIONS


def read(draft: Draft, project: Project) -> Draft:
    """The draft with the texts of its steps, and with what is wrong in them among its faults."""
    data = draft.document.data
    if not isinstance(data, Mapping) or not any(one in cast(Mapping[str, object], data) for one in FLOW_SECTIONS):
        return draft
    name = name_of(Path(draft.document.name), project)
    definition, found = reading.read(draft.document, name)
    for problem in found:
        if problem.path[:1] != ("inputs",):  # both read them, and the workflow has told it
            draft.faults.add(draft.document, problem)
    if draft.workflow is None or "steps" not in data:
        return draft
    warnings = (*draft.workflow.warnings, *definition.warnings)
    return replace(draft, workflow=replace(draft.workflow, flow=((name, draft.document.text),), warnings=warnings))


def name_of(file: Path, project: Project) -> str:
    """What a file is called wherever its text is kept: its way from the project's root, else from the person's home."""
    found = file.resolve()
    for root, before in ((project.root.resolve(), ""), (Path.home().resolve(), "~/")):
        if found.is_relative_to(root):
            return before + found.relative_to(root).as_posix()
    return found.as_posix()
