"""Workflows of a project that hide one of the person's own: told at their first use, and remembered.

Who clones a project does not expect that a name which they know means something else in it.
"""

from pathlib import Path

from moot.app.project import Project
from moot.app.shelves import Shelves
from moot.core.records import record

_FILE = "moot.shadows"


@record
class Shadow:
    """A file that is used, and the one that is not."""

    name: str
    file: str
    hidden: str

    @property
    def told(self) -> str:
        return f"{self.name} is that of this project ({self.file}), and not your own ({self.hidden})."


def of(project: Project, name: str, file: Path) -> Shadow | None:
    """If a workflow that was found by its name hides another."""
    hidden = Shelves(project).hidden(name, file)
    return Shadow(name, str(file), hidden) if hidden else None


def is_known(project: Project, shadow: Shadow) -> bool:
    """Whether it was told before."""
    try:
        return _line(shadow) in (project.folder / _FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False


def remember(project: Project, shadow: Shadow) -> None:
    if not is_known(project, shadow):
        file = project.make_folder() / _FILE
        with file.open("a", encoding="utf-8") as kept:
            kept.write(f"{_line(shadow)}\n")


def _line(shadow: Shadow) -> str:
    return "\t".join((shadow.name, shadow.file, shadow.hidden))
