"""The project a command works in: its root, its private folder, and its configuration."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast
from urllib.parse import quote

from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json
from moot.core.text import is_text

_KEYS = ("store", "retry", "attempt_timeout", "notify", "defaults", "models", "mcp_servers", "mcpServers")
PEOPLE_FOLDER = ".moot"  # what people write
OUR_FOLDER = ".workflow"  # what moot writes
WORKTREES = "worktrees"  # where agents work, in there


class ConfigInvalid(InvalidInput):
    code = "CONFIG_INVALID"


class FolderRefused(MootError):
    """moot cannot write in its own folder."""

    code = "FOLDER_REFUSED"


@dataclass(frozen=True)
class Project:
    """Where commands find and keep things."""

    root: Path

    @property
    def folder(self) -> Path:
        """moot's own folder in the project."""
        return self.root / OUR_FOLDER

    def make_folder(self, instance: str = "") -> Path:
        """Private to its owner, and ignored by git; with an instance, its folder in there."""
        found = self.folder / instance
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # above another it would be made for all to read
            found.mkdir(exist_ok=True, mode=0o700)
            ignore = self.folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            # Of a file that lies in the way the system only says that it exists.
            reason = os.strerror(errno.ENOTDIR) if isinstance(error, FileExistsError) else error.strerror
            raise FolderRefused(
                f"{found} cannot be made: {reason}.", "moot keeps its files there; make the project writable."
            ) from error
        return found

    @property
    def private_folder(self) -> Path:
        """Where attempts have their private folders."""
        return self.folder / "moot.private"

    @property
    def socket(self) -> Path:
        return self.folder / "moot.sock"

    @cached_property
    def config(self) -> Mapping[str, Json]:
        """The person's settings with the project's on top."""
        return {**_read(Path.home() / PEOPLE_FOLDER), **_read(self.root / PEOPLE_FOLDER)}

    @property
    def own_store_url(self) -> str:
        """The store in the project's own folder."""
        return f"sqlite://{quote(str(self.folder / 'moot.db'))}"

    def store_url(self, option: str | None) -> str:
        """From `--store`, the environment, the configuration, or the project's own file."""
        said = option or os.environ.get("MOOT_STORE")
        if said:
            if not is_text(said):
                raise ConfigInvalid("The address of the store is not UTF-8.", "See MOOT_STORE, or --store.")
            return said
        chosen = self.config.get("store")
        if chosen is None:
            return self.own_store_url
        if not isinstance(chosen, str):
            raise ConfigInvalid("`store` in config.yaml must be a text.", "Write store: postgresql://…")
        scheme, _, path = chosen.partition(":")
        if scheme == "sqlite" and path and not path.startswith("/"):  # the same file from everywhere in the project
            return f"sqlite://{quote(str(self.root))}/{path}"
        return chosen


def find(start: Path | None = None) -> Project:
    """The nearest folder with `.moot/` or `.workflow/`, else git's main worktree, else here."""
    here = _outside_worktrees((start or Path.cwd()).resolve())
    if not is_text(str(here)):
        shown = os.fsencode(here).decode(errors="backslashreplace")
        raise FolderRefused(f"The name of {shown} is not UTF-8.", "Rename it, or work in another folder.")
    for folder in (here, *here.parents):
        # The person's own settings in the home folder do not make it a project.
        is_settings = folder == Path.home() and not (folder / OUR_FOLDER).is_dir()
        if not is_settings and ((folder / PEOPLE_FOLDER).is_dir() or (folder / OUR_FOLDER).is_dir()):
            return Project(folder)
    return Project(_main_worktree(here) or here)


def _outside_worktrees(here: Path) -> Path:
    """The project's root for who is in a worktree of ours: what it has checked out is no project of its own."""
    ours = (one for one in here.parents if one.name == WORKTREES and one.parent.name == OUR_FOLDER)
    return next((one.parent.parent for one in ours), here)


def _main_worktree(here: Path) -> Path | None:
    """Read from the files, without running git."""
    for folder in (here, *here.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder
        if marker.is_file():
            return _from_link(marker)
    return None


def _from_link(marker: Path) -> Path:
    """A linked worktree's `.git` file names `<main>/.git/worktrees/<name>`."""
    named = marker.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
    target = (marker.parent / named).resolve()
    if target.parent.name == "worktrees" and target.parent.parent.name == ".git":
        return target.parent.parent.parent
    return marker.parent


def _read(folder: Path) -> Mapping[str, Json]:
    file = folder / "config.yaml"
    if not os.path.lexists(file):
        return {}
    if not file.is_file():  # else a broken link would silently lead to another store
        raise ConfigInvalid(f"{file} is no file.", "Move it away, or mend what it points to.")
    # Most projects have no such file, and commands start faster without.
    from moot.core import yaml  # noqa: PLC0415
    from moot.core.nearest import hint  # noqa: PLC0415

    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigInvalid(f"{file} cannot be read: {error.strerror}.", "Check its permissions.") from error
    found: object = yaml.load(content, str(file))
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ConfigInvalid(f"{file} must hold keys and values.", "For example: store: postgresql://…")
    settings = cast(dict[str, Json], found)
    if unknown := next((str(key) for key in settings if key not in _KEYS), None):
        raise ConfigInvalid(f"{file}: there is no setting `{unknown[:80]}`.", hint(unknown, _KEYS))
    if "mcp_servers" in settings and "mcpServers" in settings:
        raise ConfigInvalid(f"{file}: `mcpServers` and `mcp_servers` are the same key.", "Keep one.")
    return settings
