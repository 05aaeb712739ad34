"""Reads the sections of a workflow file that the engine runs into a `Definition`, and says what is wrong with them.

Everything that can be known before a step is taken is looked at here: kinds and keys, places in the state, braces, and
computed fields that are made from each other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from moot.core import problems
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.yaml import Document, Path
from moot.engine.definition import Definition
from moot.engine.expressions import javascript, template
from moot.engine.expressions.template import Expression
from moot.engine.kinds import KINDS, Kind
from moot.engine.shape import ComputedShape, FlowShape, StateShape
from moot.engine.state import paths
from moot.engine.state.schema import Computed, Schema
from moot.engine.step import Step

M = TypeVar("M", bound=BaseModel)
SECTIONS = ("steps", "state_schema", "default_state")
_RAW_PLACES = frozenset(("command",))  # keys in which three braces mean something
_EARLY = re.compile(r"\$\{\{")
_BEFORE = re.compile(r"""\$\{\{(?:[ \t]*+'[^'\n]*+'[ \t]*+\}\})?""")  # with a text in quotes, which may be braces
_MOST_STEPS = 10_000


def read(document: Document, name: str) -> tuple[Definition, list[Problem]]:
    """The definition as far as it could be read, and everything that is wrong."""
    name = _name(document, name)
    reader = _Reader(document)
    data = {key: value for key, value in cast(Mapping[str, Any], document.data).items() if key in SECTIONS}
    said = reader.fit(FlowShape, data, ())
    if said is None:
        return Definition(name), reader.found
    steps = reader.block(said.steps or (), ("steps",), is_looping=False)
    schema = reader.schema(said.state_schema, [*said.default_state.raw, *said.default_state.state])
    begin: dict[str, Mapping[str, Json]] = {"raw": said.default_state.raw, "state": said.default_state.state}
    reader.check_templates(cast(Json, begin), ("default_state",))
    made = Definition(name, steps, schema, begin, tuple(reader.warnings), result=reader.result())
    return made, reader.found


def _name(document: Document, otherwise: str) -> str:
    said = cast(Mapping[str, object], document.data).get("name")
    return said if isinstance(said, str) else PurePath(otherwise).stem


@dataclass(slots=True)
class _Reader:
    document: Document
    found: list[Problem] = field(default_factory=list[Problem])
    warnings: list[str] = field(default_factory=list[str])
    count: int = 0

    def fit(self, model: type[M], data: object, path: Path) -> M | None:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            self.found += problems.found(error, model, data, path)
            return None

    def block(self, said: Sequence[object], path: Path, *, is_looping: bool) -> tuple[Step, ...]:
        steps: dict[str, Step] = {}
        for at, one in enumerate(said):
            step = self._step(one, (*path, at), is_looping=is_looping)
            if step is not None and step.name in steps:
                self._add((*path, at, "id"), f"two steps of this block are called `{step.name}`", "Rename one of them.")
            elif step is not None:
                steps[step.name] = step
        return tuple(steps.values())

    def _step(self, said: object, path: Path, *, is_looping: bool) -> Step | None:
        kind = self._kind(said, path)
        if kind is None or not self._has_room(path):
            return None
        words = cast(Mapping[str, Any], said)
        type_ = str(words["type"])
        if type_ in ("break", "continue") and not is_looping:
            self._add(path, f"`{type_}` stands in no loop", "Put it into a while or a foreach.")
        shaped = self.fit(kind.said, words, path)
        inside = is_looping or kind.is_loop
        blocks = {key: self.block(_listed(words.get(key)), (*path, key), is_looping=inside) for key in kind.blocks}
        own = {key: value for key, value in words.items() if key not in kind.blocks}
        known = len(self.found)
        self.check_templates(cast(Json, own), path)
        is_well = shaped is not None and len(self.found) == known
        detail = self._detail(kind, shaped, path) if is_well else None
        name = str(words.get("id") or path[-1])
        return Step(name, type_, detail, blocks, path, kind.is_loop)

    def _kind(self, said: object, path: Path) -> Kind | None:
        if not isinstance(said, Mapping):
            self._add(path, f"`{problems.spell(path)}` must be a step", "Write `type:` and what belongs to it.")
            return None
        type_ = cast(Mapping[str, object], said).get("type")
        if type_ is None:
            self.found.append(
                Problem((*path, "type"), f"`type` is missing in `{problems.spell(path)}`", "Add it.", True)
            )
            return None
        if str(type_) not in KINDS:
            fact = f"there is no kind of step `{str(type_)[:80]}`"
            self.found.append(Problem((*path, "type"), fact, hint(str(type_), KINDS)))
            return None
        return KINDS[str(type_)]

    def _detail(self, kind: Kind, shaped: BaseModel | None, path: Path) -> Any:
        try:
            return kind.read(shaped)
        except MootError as error:
            self.found.append(problems.of_error(path, error))
            return None

    def _has_room(self, path: Path) -> bool:
        self.count += 1
        if self.count == _MOST_STEPS + 1:
            self._add(path, f"there are more than {_MOST_STEPS:,} steps", "Use a loop.")
        return self.count <= _MOST_STEPS

    def check_templates(self, value: Json, path: Path) -> None:
        """Braces that are not closed, of the wrong kind, or with a name in them that nobody may use."""
        for where, text in _texts(value, path):
            if _EARLY.search(text):
                self._add(where, "`${{ }}` is for what is known before a run", "Write {{ }}, such as {{ inputs.x }}.")
                continue
            try:
                found = template.parse(text).expressions
            except MootError as error:
                self.found.append(problems.of_error(where, error))
                continue
            for one in found:
                self._check_expression(one, where)

    def _check_expression(self, one: Expression, where: Path) -> None:
        if one.is_raw and where[-1] not in _RAW_PLACES:
            self._add(where, f"three braces mean nothing here: {one.source[:80]}", "Write two.")
        for name in sorted(one.names & {"raw", "computed"}):
            self._add(where, f"`{name}` is no name in {one.source[:80]}", f"Write the field alone, without `{name}.`")

    def result(self) -> str:
        """What is evaluated at the end; a result without braces is not the engine's."""
        said = cast(Mapping[str, object], self.document.data).get("result")
        if not isinstance(said, str) or "{{" not in _BEFORE.sub("", said):
            return ""
        self.check_templates(said, ("result",))
        return said

    def schema(self, said: StateShape, defaults: Sequence[str]) -> Schema:
        declared = [*said.raw, *said.state, *defaults]
        for name in sorted(said.computed.keys() & set(declared)):
            line, column = self.document.place(("state_schema", "computed", name), key=True)
            fact = f"{name} is raw and computed at once; who reads it sees what is computed"
            self.warnings.append(f"{self.document.name}:{line}:{column}: {fact}.")
        made = [one for name, shape in said.computed.items() if (one := self._computed(name, shape)) is not None]
        try:
            return Schema(made, declared)
        except MootError as error:
            self.found.append(problems.of_error(("state_schema", "computed"), error, is_key=True))
            return Schema((), [*declared, *said.computed])

    def _computed(self, name: str, said: ComputedShape) -> Computed | None:
        path = ("state_schema", "computed", name)
        sources = [said.source] if isinstance(said.source, str) else said.source
        try:
            keys = [paths.parse(one) for one in sources]
            javascript.free_names(said.transform)
            javascript.free_names(said.validate_)
        except MootError as error:
            self.found.append(problems.of_error(path, error))
            return None
        for key in keys:
            if key.rest:
                self._add(
                    (*path, "from"),
                    f"`{key}` is inside a field",
                    f"Write {key.key}, and look into it in the transform.",
                )
        line, _ = self.document.place((*path, "transform"))
        return Computed(
            name,
            tuple(key.key for key in keys),
            said.transform,
            lists_inputs=not isinstance(said.source, str),
            on_error=said.on_error,
            fallback=said.fallback,
            validate=said.validate_,
            line=line + ("\n" in said.transform),
        )

    def _add(self, path: Path, fact: str, remedy: str) -> None:
        self.found.append(Problem(path, fact, remedy))


def _listed(value: object) -> Sequence[object]:
    return cast(list[object], value) if isinstance(value, list) else ()


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, Sequence):
        for at, inner in enumerate(value):
            yield from _texts(inner, (*path, at))
