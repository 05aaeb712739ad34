"""Where workflow files and agent files are looked for."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.core.records import record

SUFFIXES = (".yaml", ".yml")


class WorkflowNotFound(InvalidInput):
    code = "WORKFLOW_NOT_FOUND"


@record
class Folders:
    """The folders in which people keep their files, those of the project first."""

    people: tuple[Path, ...] = ()  # `.moot` of the project and of the person

    def workflows(self) -> Iterator[Path]:
        return (folder / "workflows" for folder in self.people)

    def agents(self) -> Iterator[Path]:
        return (folder / "agents" for folder in self.people)


def workflow_file(target: str, folders: Folders) -> Path:
    """What `moot run TARGET` means: a path if it is there or looks like one, else the name of a workflow."""
    path = Path(target).expanduser()
    if path.is_file() or "/" in target or target.endswith(SUFFIXES):
        if not path.is_file():
            raise WorkflowNotFound(f"There is no file {target[:200]}.", "Check the path.")
        return path
    for folder in folders.workflows():
        for spelling in dict.fromkeys((target, target.replace(":", "/"))):
            for suffix in SUFFIXES:
                found = folder / f"{spelling}{suffix}"
                if _is_inside(found, folder) and found.is_file():
                    return found
    raise WorkflowNotFound(f"There is no workflow `{target[:80]}`.", _known(target, folders))


def workflow_names(folders: Folders) -> dict[str, Path]:
    """Every workflow that can be called by its name; the project's hide the person's."""
    found: dict[str, Path] = {}
    for folder in folders.workflows():
        for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if file.suffix in SUFFIXES and file.is_file():
                found.setdefault(file.relative_to(folder).with_suffix("").as_posix().replace("/", ":"), file)
    return found


def agent_file(written: str, beside: Path, folders: Folders) -> Path | None:
    """The agent file that a name or a path means: beside the file where it stands, in `.moot/agents`, in
    `~/.moot/agents`."""
    places = (beside,) if "/" in written else (beside, *folders.agents())
    try:
        path = Path(written).expanduser()
        name = path if path.suffix == ".md" else path.with_name(path.name + ".md")
        return next((place / name for place in places if (place / name).is_file()), None)
    except (OSError, RuntimeError, ValueError):  # what cannot be the name of a file, or of a person
        return None


def agent_names(places: Iterable[Path]) -> list[str]:
    """The agent files in these folders."""
    return [file.stem for place in places if place.is_dir() for file in sorted(place.glob("*.md"))]


def _is_inside(file: Path, folder: Path) -> bool:
    return ".." not in file.relative_to(folder).parts


def _known(target: str, folders: Folders) -> str:
    names = workflow_names(folders)
    if not names:
        return "Write the path of a file, or put it into .moot/workflows/."
    return hint(target, names)
