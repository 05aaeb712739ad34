"""Gathers the texts of a definition: the file itself, all that it imports, and the workflows that it includes by name.

Nothing is read from outside the folder of the definition and those of workflows.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from moot.app.project import Project
from moot.core import library
from moot.core.errors import InvalidInput, MootError
from moot.core.library import Files
from moot.core.yaml import Document
from moot.engine.files import importing, reading
from moot.engine.files.importing import Refusal
from moot.engine.files.reading import Reading
from moot.workflow import drafts, finding
from moot.workflow.finding import Folders

_MOST = 100  # files of one definition


@dataclass(slots=True)
class Gathered:
    """What was read, by the names of the texts, the definition itself first; and why something was not."""

    readings: dict[str, Reading] = field(default_factory=dict[str, Reading])
    refused: dict[str, Refusal] = field(default_factory=dict[str, Refusal])

    @property
    def files(self) -> Files:
        return tuple((name, one.notes.document.text) for name, one in self.readings.items())


def gather(document: Document, project: Project, folders: Folders) -> Gathered:
    """Everything that belongs to a file that was read already. What cannot be read is told where it is named."""
    file = _absolute(Path(document.name))
    gatherer = _Gatherer(project, folders, file.parent)
    gatherer.take(name_of(file, project), document)
    gatherer.include()
    return gatherer.found


def name_of(file: Path, project: Project) -> str:
    """What a file is called wherever its text is kept: its way from the project's root, else from the person's home."""
    written = _absolute(file)
    for found in (written, written.parent.resolve() / written.name):
        for root, before in ((project.root, ""), (Path.home(), library.HOME)):
            way = next((one for one in (root, root.resolve()) if found.is_relative_to(one)), None)
            if way is not None:
                return before + found.relative_to(way).as_posix()
    return written.as_posix()


@dataclass(slots=True)
class _Gatherer:
    project: Project
    folders: Folders
    beside: Path  # the folder of the definition
    found: Gathered = field(default_factory=Gathered)

    def take(self, name: str, document: Document) -> None:
        """A text, and all that it imports."""
        readings, refused = self.found.readings, self.found.refused
        waiting = [(name, document)]
        for at, one in waiting:  # which grows on the way
            if at in readings:
                continue
            readings[at] = reading.read_file(one, at)
            for written in readings[at].imports:
                other = library.imported(written, at)
                try:
                    if other not in readings and other not in refused:
                        self._check_room(len(waiting))
                        waiting.append((other, self._imported(one, written, other)))
                except MootError as error:
                    refused[other] = Refusal(error.fact.rstrip("."), error.remedy)

    def include(self) -> None:
        """The workflows that steps include by a name which no import has."""
        readings, refused = self.found.readings, self.found.refused
        names = list(readings)
        for at in names:  # which grows on the way
            for _, workflow in readings[at].notes.includes:
                if workflow in refused or importing.included(readings, at, workflow):
                    continue
                try:
                    self._check_room(len(names))
                    self.take(*self._named(workflow))
                except MootError as error:
                    refused[workflow] = Refusal(error.fact.rstrip("."), error.remedy)
                names += [one for one in readings if one not in names]

    def _named(self, workflow: str) -> tuple[str, Document]:
        file = next(finding.named(workflow, self.folders), None)
        if file is None:
            remedy = finding.not_found(workflow, self.folders).remedy
            raise InvalidInput(f"there is no workflow `{workflow[:80]}`, neither imported nor in the library", remedy)
        return name_of(file, self.project), _read(file)

    def _check_room(self, count: int) -> None:
        if max(count, len(self.found.readings)) >= _MOST:
            raise InvalidInput(f"this leads to more than {_MOST} files", "Use fewer.")

    def _imported(self, importer: Document, written: str, name: str) -> Document:
        folder = Path(importer.name).parent
        file = Path(os.path.normpath(folder / written))
        root = self._root(_absolute(Path(importer.name)), _absolute(file))
        if Path(written).is_absolute() or written.startswith("~") or root is None:
            raise InvalidInput(f"`{written[:200]}` leads out of the workflow's folder", "Keep it in there.")
        if not finding.is_there(root, _absolute(file).relative_to(root).as_posix()):
            raise InvalidInput(f"there is no file {name[:200]}", "Correct the path.")
        return _read(file)

    def _root(self, importer: Path, file: Path) -> Path | None:
        """The folder in which it lies, as it is written and as it is."""
        for root in self._roots(importer):
            if file.is_relative_to(root) and file.resolve().is_relative_to(root.resolve()):
                return root
        return None

    def _roots(self, importer: Path) -> Iterator[Path]:
        """Of a person's own files only they themselves know."""
        yield self.beside
        for shelf in self.folders.workflows():
            if shelf.is_relative_to(self.project.root) or importer.is_relative_to(shelf):
                yield shelf


def _read(file: Path) -> Document:
    found = library.unwrapped(drafts.read_document(file))
    if found.data is None:
        raise InvalidInput(f"{file} is empty", "See docs/workflows.md for an example.")
    return found


def _absolute(file: Path) -> Path:
    return Path(os.path.abspath(file))
