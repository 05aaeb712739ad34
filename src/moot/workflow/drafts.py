"""A file on the way to becoming a workflow: what was found wrong so far, each with its place."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from moot.core import nearest, problems, schemas, yaml
from moot.core.errors import InvalidInput, MootError
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document
from moot.workflow import keys
from moot.workflow.workflow import Fault, WorkflowInvalid

M = TypeVar("M", bound=BaseModel)
MOST_BYTES = 1_000_000  # of one file
_ROUNDS = 5
_MOST_FAULTS = 100


@record
class Text(Document):
    """A file that is text to a program, or ends in it; a path in it is how many characters stand before the place."""

    text: str = ""
    skipped: int = 0  # what stands before the part that is looked at

    def place(self, path: yaml.Path, *, key: bool = False) -> tuple[int, int]:
        before = self.text[: self.skipped + (path[0] if path and isinstance(path[0], int) else 0)]
        return before.count("\n") + 1, len(before) - before.rfind("\n")


def as_text(file: Path, text: str, part: str) -> Text:
    """The file, with the part of it that is looked at."""
    return Text(str(file), None, None, text, max(0, text.find(part)))


@dataclass(slots=True)
class Faults:
    """Everything wrong in the files of one workflow, to be told at once."""

    found: list[tuple[Document, Problem]] = field(default_factory=list[tuple[Document, Problem]])
    seen: set[tuple[str, Problem]] = field(default_factory=set[tuple[str, Problem]])

    def add(self, document: Document, problem: Problem) -> None:
        """Once, however often the file is read; of very many only the first, since each has to be found in its file."""
        key = (document.name, problem)
        if key not in self.seen and len(self.seen) < _MOST_FAULTS:
            self.seen.add(key)
            self.found.append((document, problem))

    def refuse(self, name: str) -> None:
        """WorkflowInvalid, if there is anything."""
        if not self.found:
            return
        documents = list({id(document): document for document, _ in self.found}.values())
        told: list[WorkflowInvalid] = []
        placed: list[Fault] = []
        for document in documents:
            own = [problem for one, problem in self.found if one is document]
            told += problems.errors(own, document, WorkflowInvalid)
            placed += sorted((_placed(document, one) for one in own), key=lambda one: (one.line, one.column))
        whole = problems.together(told, name)
        raise WorkflowInvalid(whole.fact, whole.remedy, placed)


def _placed(document: Document, problem: Problem) -> Fault:
    line, column = document.place(problem.path, key=problem.is_key)
    return Fault(document.name, line, column, f"{problem.fact}.", problem.remedy)


def read_bytes(file: Path) -> bytes:
    """A whole file, if it is one and not huge; InvalidInput."""
    try:
        if not file.is_file():  # a pipe would be waited for
            raise InvalidInput(f"there is no file {file}", nearest.file_hint(file, (file.suffix,)))
        if file.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{file} has more than {MOST_BYTES:,} bytes", "Keep it shorter.")
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", "Check the file.") from error


def read_text(file: Path) -> str:
    try:
        found = read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8 text", "Save it as UTF-8.") from error
    if "\0" in found:
        raise InvalidInput(f"{file} holds a NUL character", "Remove it.")
    return found


def read_document(file: Path) -> Document:
    """A YAML file; WorkflowInvalid or YamlInvalid."""
    try:
        return yaml.read(read_bytes(file), str(file))
    except yaml.YamlInvalid:
        raise
    except MootError as error:
        fact = error.fact[:1].upper() + error.fact[1:]
        raise WorkflowInvalid(f"{fact}.", error.remedy) from error


def fit(model: type[M], document: Document, faults: Faults) -> M | None:
    """What it says, in the form of the model. What is wrong is noted and left out, so that the rest can be looked at;
    None if nothing useful is left."""
    data: Any = deepcopy(document.data)
    for number in range(_ROUNDS):
        try:
            return model.model_validate(data)
        except ValidationError as error:
            found = problems.found(error, model, data)
            if number == 0:  # what comes up later may only be wrong because something was left out
                for one in _explained(found, data):
                    faults.add(document, one)
            is_mended = [_leave_out(data, one.path) for one in found]
            if not all(is_mended):
                return None
    return None


def _explained(found: list[Problem], data: object) -> Iterator[Problem]:
    """A key that is there already is told as that. One in two spellings is told once."""
    unknown = [one.path for one in found if one.is_key and " is no key of " in one.fact]
    for one in found:
        spellings = _spellings(one.path, data) if one.path in unknown else []
        known = next((path for path in spellings if path not in unknown), None)
        if known is not None:
            fact = f"`{one.path[-1]}` and `{known[-1]}` are the same key"
            yield Problem(one.path, fact, "Keep one.", is_key=True)
        elif not spellings or one.path == spellings[0]:
            yield one


def _spellings(path: yaml.Path, data: object) -> list[yaml.Path]:
    """The keys that mean the same there, with this one, in the order of the file."""
    beside = cast(Mapping[str, object], schemas.value_at(data, path[:-1]))
    wanted = keys.meant(str(path[-1]))
    return [(*path[:-1], key) for key in beside if keys.meant(str(key)) == wanted]


def _leave_out(data: Any, path: yaml.Path) -> bool:
    """Remove what stands there. A list goes as a whole, so that the places in it keep their numbers."""
    whole = next((at for at, part in enumerate(path) if isinstance(part, int)), len(path))
    path = path[:whole]
    while path:
        parent: Any = schemas.value_at(data, path[:-1])
        if isinstance(parent, dict) and path[-1] in parent:
            del parent[path[-1]]
            return True
        path = path[:-1]  # a missing key spoils what it is missing in
    return False
