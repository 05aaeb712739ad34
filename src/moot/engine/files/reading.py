"""Reads the sections of a workflow file that the engine runs into a `Definition`, and says what is wrong with them.

Everything that one file can tell before a step is taken is looked at here: kinds and keys, places in the state, braces,
computed fields that are made from each other. What it refers to in others, `compiling` looks for.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, cast

from moot.core.problems import Problem
from moot.core.records import record, replace
from moot.core.yaml import Document
from moot.engine.definition import Definition
from moot.engine.files.section import Notes
from moot.engine.files.sections import failures, inputs, state, steps, tasks
from moot.engine.shape import FlowShape

_BEFORE = re.compile(r"""\$\{\{(?:[ \t]*+'[^'\n]*+'[ \t]*+\}\})?""")  # with a text in quotes, which may be braces


@record
class Reading:
    """What one file says by itself."""

    definition: Definition
    notes: Notes
    imports: tuple[str, ...] = ()


def read(document: Document, name: str) -> tuple[Definition, list[Problem]]:
    """The definition as far as it could be read, and everything that is wrong; `name` is the file's."""
    found = read_file(document, name)
    return found.definition, found.notes.found


def read_file(document: Document, name: str) -> Reading:
    notes = Notes(document)
    if not isinstance(document.data, Mapping):
        notes.add((), "this file is no workflow", "Write keys and values, such as steps.")
        return Reading(Definition(PurePosixPath(name).stem), notes)
    data = cast(Mapping[str, Any], document.data)
    known = {key: value for key, value in data.items() if key in FlowShape.model_fields}
    said = _said(known, notes)
    definition = Definition(
        said.name or PurePosixPath(name).stem,
        steps.read(said.steps or (), ("steps",), notes),
        state.schema(said.state_schema, said.default_state, notes),
        state.defaults(said.default_state, notes),
        (),
        said.description,
        said.version,
        inputs.read(said.inputs, ("inputs",), notes),
        tasks.read(said.sub_agent_tasks, notes),
        failures.read(said.error_handling, notes),
        failures.resumption(said.on_resume),
        _result(said, notes),
    )
    return Reading(replace(definition, warnings=tuple(notes.warnings)), notes, tuple(said.imports))


def _said(data: Mapping[str, Any], notes: Notes) -> FlowShape:
    """Without the sections in which something is wrong, so that the rest can be looked at."""
    said = notes.fit(FlowShape, data, ())
    if said is None:
        wrong = {one.path[0] for one in notes.found}
        said = FlowShape.model_validate({key: value for key, value in data.items() if key not in wrong})
    return said


def _result(said: FlowShape, notes: Notes) -> str:
    """What is evaluated at the end; a result without braces, or without steps, is not the engine's."""
    written = said.result or ""
    if said.steps is None or "{{" not in _BEFORE.sub("", written):
        return ""
    notes.check_templates(written, ("result",))
    return written
