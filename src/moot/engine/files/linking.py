"""Links what was read from several files into one definition: workflows that are included, tasks of sub-agents.

What leads nowhere, or round in a circle, is noted where it stands.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from moot.core import schemas
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.records import record, replace
from moot.core.yaml import Document, Path
from moot.engine.definition import Definition, SubTask
from moot.engine.files import borrowing, importing
from moot.engine.files.importing import Readings, Refusals
from moot.engine.frames import ON_FAILURE, WORKFLOW
from moot.engine.step import Step


@record
class Linked:
    definition: Definition
    found: tuple[tuple[Document, Problem], ...]  # everything that is wrong in any of the texts


def link(readings: Readings, refused: Refusals | None = None) -> Linked:
    """`refused` says why something that is named is not among what was read."""
    linker = _Linker(readings, refused or {})
    importing.check(readings, linker.refused)
    definition, *_ = [linker.definition(name, ()) for name in readings]
    warnings = tuple(dict.fromkeys(chain(*(one.notes.warnings for one in readings.values()))))
    found = [(one.notes.document, problem) for one in readings.values() for problem in one.notes.found]
    return Linked(replace(definition, warnings=warnings), tuple(found))


@dataclass(slots=True)
class _Linker:
    readings: Readings
    refused: Refusals
    done: dict[str, Definition] = field(default_factory=dict[str, Definition])

    def definition(self, name: str, trail: tuple[str, ...]) -> Definition:
        """With everything inside it; `trail` leads to it."""
        if name in self.done:
            return self.done[name]
        trail = (*trail, name)
        inside = dict(self._included(name, trail))
        own = self.readings[name].definition
        tasks = {key: _filled_task(one, inside) for key, one in own.tasks.items()}
        self.done[name] = replace(
            own,
            steps=_filled(own.steps, inside),
            tasks={**tasks, **self._borrowed(name, trail)},
            errors=replace(own.errors, on_failure=_filled(own.errors.on_failure, inside)),
        )
        return self.done[name]

    def _included(self, name: str, trail: tuple[str, ...]) -> Iterator[tuple[Path, Definition]]:
        """The workflows that steps of a text include, by the places of those steps."""
        for path, workflow in self.readings[name].notes.includes:
            where = (*path, WORKFLOW)
            others = importing.included(self.readings, name, workflow)
            if len(others) != 1:
                self._add(name, where, *self._not_included(name, workflow, others))
            elif others[0] in trail:
                circle = (*trail[trail.index(others[0]) :], others[0])
                named = " → ".join(self.readings[one].definition.name for one in circle)
                self._add(name, where, f"workflows include each other: {named}", "Leave one of the steps out.")
            else:
                found = self.definition(others[0], trail)
                self._check_given(name, path, found)
                yield path, found

    def _not_included(self, name: str, workflow: str, others: Sequence[str]) -> tuple[str, str]:
        if others:
            return f"`{workflow[:80]}` is the name of {' and of '.join(others)}", "Give one of them another name."
        if (why := self.refused.get(workflow)) is not None:
            return why.fact, why.remedy
        known = [self.readings[one].definition.name for one in importing.imports(self.readings, name)]
        return f"there is no workflow `{workflow[:80]}`", hint(workflow, known) if known else "Import its file."

    def _check_given(self, name: str, path: Path, found: Definition) -> None:
        """What an included workflow is given is what it asks for."""
        given = schemas.value_at(self.readings[name].notes.document.data, (*path, "inputs"))
        names = set(cast(Mapping[str, object], given)) if isinstance(given, Mapping) else set[str]()
        asked = {one.name: one for one in found.inputs}
        if not found.steps:
            self._add(name, (*path, WORKFLOW), f"`{found.name}` has no steps", "Add some, or do not include it.")
        for one in sorted(names - asked.keys() if asked else ()):  # one that asks for nothing takes what it is given
            self._add(name, (*path, "inputs", one), f"`{found.name}` has no input `{one[:80]}`", hint(one, asked))
        for one in asked.values():
            if one.is_required and one.default is None and one.name not in names:
                self._add(name, path, f"`{found.name}` needs the input `{one.name}`", "Give it under inputs.")

    def _borrowed(self, name: str, trail: tuple[str, ...]) -> dict[str, SubTask]:
        """The tasks of sub-agents that stand in other texts."""
        found: dict[str, SubTask] = {}
        for task, owner in borrowing.owners(self.readings, name).items():
            if owner not in trail:  # what imports itself is refused already
                found[task] = self.definition(owner, trail).tasks[task]
        return found

    def _add(self, name: str, path: Path, fact: str, remedy: str) -> None:
        self.readings[name].notes.add(path, fact, remedy)


def _filled(steps: Sequence[Step], inside: Mapping[Path, Definition]) -> tuple[Step, ...]:
    return tuple(_filled_step(one, inside) for one in steps)


def _filled_step(step: Step, inside: Mapping[Path, Definition]) -> Step:
    found = inside.get(step.place)
    if found is not None and step.detail is not None:
        blocks = {WORKFLOW: found.steps, ON_FAILURE: found.errors.on_failure}
        return replace(step, detail=replace(step.detail, definition=found), blocks=blocks)
    if not step.blocks:
        return step
    return replace(step, blocks={key: _filled(block, inside) for key, block in step.blocks.items()})


def _filled_task(task: SubTask, inside: Mapping[Path, Definition]) -> SubTask:
    return replace(task, steps=_filled(task.steps, inside), cleanup=_filled(task.cleanup, inside))
