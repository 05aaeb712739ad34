"""Where workflow files and agent files are looked for."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from moot.core import library, nearest
from moot.core.errors import InvalidInput
from moot.core.records import record


class WorkflowNotFound(InvalidInput):
    code = "WORKFLOW_NOT_FOUND"


@record
class Folders:
    """The folders in which people keep their files, those of the project first."""

    people: tuple[Path, ...] = ()  # `.moot` of the project and of the person

    def workflows(self) -> Iterator[Path]:
        return (folder.parent / shelf for folder in self.people for shelf in library.SHELVES)

    def agents(self) -> Iterator[Path]:
        return (folder / "agents" for folder in self.people)


def workflow_file(target: str, folders: Folders) -> Path:
    """What `moot run TARGET` means: a path if it is there or looks like one, else the name of a workflow. Where no file
    lies as seen from here, the one as seen from the project's root is meant: so moot names files to everybody."""
    path = _path(target)
    if path is None and ("/" in target or target.endswith(library.SUFFIXES)):
        path = next((found for one in folders.people[:1] if (found := _path(str(one.parent / target)))), None)
        if path is None:
            raise _no_file(target)
    if path is not None:
        return path
    found = next(named(target, folders), None)
    if found is None:
        raise _no_file(target) if Path(target).is_dir() else not_found(target, folders)
    return found


def _no_file(target: str) -> WorkflowNotFound:
    if Path(target).is_dir():
        return WorkflowNotFound(f"{target[:200]} is a folder.", "Name a workflow file in it.")
    return WorkflowNotFound(f"There is no file {target[:200]}.", nearest.file_hint(Path(target), library.SUFFIXES))


def named(name: str, folders: Folders) -> Iterator[Path]:
    """The files of a workflow's name: the first is the one, and hides the others."""
    for shelf in folders.workflows():
        yield from (shelf / file for file in library.spellings(name) if is_there(shelf, file))


def not_found(name: str, folders: Folders) -> WorkflowNotFound:
    known = workflow_names(folders)
    first = "Write the path of a file, or put it into .moot/workflows/; moot init writes a first one."
    file = nearest.near_file(Path(name), library.SUFFIXES)
    if nearest.nearest(name, known) is None and file is not None:
        near = f"Did you mean the file `{file}`?"
    else:
        near = nearest.hint(name, known) if known else first
    looked = ", ".join(_shown(shelf) for shelf in folders.workflows())
    return WorkflowNotFound(f"There is no workflow `{name[:80]}`.", f"{near} Looked in {looked}.")


def workflow_names(folders: Folders) -> dict[str, Path]:
    """Every workflow that can be called by its name; the project's hide the person's."""
    found: dict[str, Path] = {}
    for shelf in folders.workflows():
        for file in sorted(shelf.rglob("*")) if shelf.is_dir() else ():
            if file.suffix in library.SUFFIXES and file.is_file():
                name = file.relative_to(shelf).with_suffix("").as_posix().replace("/", ":")
                if name not in found and (first := next(named(name, folders), None)) is not None:
                    found[name] = first
    return found


def is_there(folder: Path, file: str) -> bool:
    """Spelled exactly so, also where the system does not tell capitals from small letters."""
    at = folder
    try:
        for part in PurePosixPath(file).parts:
            if part not in os.listdir(at):
                return False
            at /= part
        return at.is_file()
    except OSError:
        return False


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


def _path(target: str) -> Path | None:
    try:
        path = Path(target).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # what cannot be the name of a file, or of a person
        return None


def _shown(shelf: Path) -> str:
    for root, before in ((Path.cwd(), ""), (Path.home(), library.HOME)):
        if shelf.is_relative_to(root):
            return before + str(shelf.relative_to(root))
    return str(shelf)
