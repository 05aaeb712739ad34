"""A file on the way to becoming a definition: what its sections were found to be, and everything that is wrong so far.

Each of `sections` reads one of them and notes here what it finds; nothing is refused before all was looked at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from moot.core import problems
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.problems import Problem
from moot.core.yaml import Document, Path
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression

M = TypeVar("M", bound=BaseModel)
_RAW_PLACES = frozenset(("command",))  # keys in which three braces mean something
_EARLY = re.compile(r"\$\{\{")


@dataclass(slots=True)
class Notes:
    """Of one document."""

    document: Document
    found: list[Problem] = field(default_factory=list[Problem])
    warned: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])  # line, column, fact
    includes: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])  # steps, and whom they include
    tasks: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])  # places that name one of a sub-agent
    scripts: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])  # JavaScript, and where it stands
    steps: int = 0

    def fit(self, model: type[M], data: object, path: Path) -> M | None:
        """What stands at the path in the form of the model, or None."""
        try:
            return model.model_validate(data)
        except ValidationError as error:
            self.found += problems.found(error, model, data, path)
            return None

    def add(self, path: Path, fact: str, remedy: str, *, is_key: bool = False) -> None:
        self.found.append(Problem(path, fact, remedy, is_key))

    def refuse(self, path: Path, error: MootError, *, is_key: bool = False) -> None:
        self.found.append(problems.of_error(path, error, is_key=is_key))

    def warn(self, path: Path, fact: str, *, is_key: bool = False) -> None:
        self.warned.append((*self.document.place(path, key=is_key), fact))

    @property
    def warnings(self) -> list[str]:
        """In the order of the file."""
        return [f"{self.document.name}:{line}:{column}: {fact}." for line, column, fact in sorted(self.warned)]

    def check_templates(self, value: Json, path: Path) -> None:
        """Braces that are not closed, of the wrong kind, or with a name in them that nobody may use."""
        for where, text in _texts(value, path):
            if _EARLY.search(text):
                self.add(where, "`${{ }}` is for what is known before a run", "Write {{ }}, such as {{ inputs.x }}.")
                continue
            try:
                found = template.parse(text).expressions
            except MootError as error:
                self.refuse(where, error)
                continue
            if where[-1] == "condition" and not found:  # which may stand without braces
                self.scripts.append((where, text))
            for one in found:
                self.scripts.append((where, one.code))
                self._check_expression(one, where)

    def _check_expression(self, one: Expression, where: Path) -> None:
        if one.is_raw and where[-1] not in _RAW_PLACES:
            self.add(where, f"three braces mean nothing here: {one.source[:80]}", "Write two.")
        elif one.is_raw:
            self.warn(where, f"{one.source[:80]} is put into the command as it is, without quotes")
        for name in sorted(one.names & {"raw", "computed"}):
            self.add(where, f"`{name}` is no name in {one.source[:80]}", f"Write the field alone, without `{name}.`")


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, Sequence):
        for at, inner in enumerate(value):
            yield from _texts(inner, (*path, at))
