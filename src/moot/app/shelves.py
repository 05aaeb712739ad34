"""The library of a project: the workflows in its own folders and in the person's, by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from moot.app import flows
from moot.app.project import PEOPLE_FOLDER, Project
from moot.core import library, schemas
from moot.core.errors import MootError
from moot.core.library import Listed, Origin, Source
from moot.core.yaml import Document
from moot.workflow import drafts, finding, reading
from moot.workflow.drafts import Faults
from moot.workflow.finding import Folders
from moot.workflow.shape import FileShape
from moot.workflow.workflow import WorkflowInvalid


def folders_of(project: Project) -> Folders:
    return Folders(tuple(dict.fromkeys((project.root / PEOPLE_FOLDER, Path.home() / PEOPLE_FOLDER))))


@dataclass(frozen=True, slots=True)
class Shelves:
    """A `Library`. Nothing is kept: whoever asks gets what the files say now."""

    project: Project

    @property
    def folders(self) -> Folders:
        return folders_of(self.project)

    def find(self, name: str) -> Source:
        """WorkflowNotFound says where was looked, WorkflowInvalid tells everything that is wrong."""
        file = next(finding.named(name, self.folders), None)
        if file is None:
            raise finding.not_found(name, self.folders)
        document = library.unwrapped(drafts.read_document(file))
        faults = Faults()
        said = drafts.fit(FileShape, document, faults)
        if said is not None:
            reading.inputs_of(said.inputs or {}, document, faults)
        flow = flows.join(document, self.project, self.folders, faults) if isinstance(document.data, Mapping) else None
        faults.refuse(document.name)
        if flow is None or not flow.definition.steps:
            raise WorkflowInvalid(f"{document.name} has no steps.", "Start it with moot run, or add steps.")
        return Source(name, str(file), self._origin(file), flow.files, self.hidden(name, file))

    def listed(self, *, with_global: bool = True) -> list[Listed]:
        """Those that have steps; what is wrong with one that cannot be read stands in place of its description."""
        found = finding.workflow_names(self.folders)
        made = (self._listed(name, file) for name, file in sorted(found.items()))
        return [one for one in made if one is not None and (with_global or one.origin == "project")]

    def hidden(self, name: str, file: Path) -> str:
        """The person's own file of this name, if the project's is the one."""
        if self._origin(file) == "global":
            return ""
        others = (one for one in finding.named(name, self.folders) if self._origin(one) == "global")
        return str(next(others, ""))

    def _origin(self, file: Path) -> Origin:
        return "project" if any(file.is_relative_to(shelf) for shelf in self._own()) else "global"

    def _own(self) -> Iterator[Path]:
        return (self.project.root / shelf for shelf in library.SHELVES)

    def _listed(self, name: str, file: Path) -> Listed | None:
        try:
            document = library.unwrapped(drafts.read_document(file))
        except MootError as error:
            return Listed(name, str(file), error.fact, self._origin(file))
        said = _description(document)
        return None if said is None else Listed(name, str(file), said, self._origin(file))


def _description(document: Document) -> str | None:
    """None if it has no steps."""
    said = schemas.value_at(document.data, ("description",))
    return str(said or "") if schemas.value_at(document.data, ("steps",)) is not None else None
