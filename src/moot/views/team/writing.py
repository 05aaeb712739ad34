"""Puts the files of a team into its folder: each whole or not at all, none through a link, and only what is not there
as it should be. What another program has made is left alone."""

import errno
from collections.abc import Collection, Mapping
from pathlib import Path

from moot.core import folder
from moot.core.folder import Folder
from moot.core.records import record
from moot.views.team import bus_file, files
from moot.views.team.picture import Picture

FOLDER = ".codex-teams"
LOCK = ".views.lock"
_IGNORE = ".gitignore"
_DEEPEST = 3
_OWN = frozenset((bus_file.NAME, *files.NAMES))


class Foreign(OSError):
    """Another program keeps its files there."""


@record
class TeamFolder:
    """Where the files of all teams of a project lie."""

    root: Path  # the project's

    def of(self, session: str) -> Path:
        return self.root / FOLDER / session

    def write(self, picture: Picture, *, is_anew: bool) -> list[Path] | None:
        """Those that are not as they should be, or all. None if another process is at it."""
        session = picture.standing.team.instance
        wanted = {f"{session}/{path}": content for path, content in files.contents(picture).items()}
        wanted[f"{session}/{bus_file.NAME}"] = bus_file.content(picture)
        with folder.opened(self.root, FOLDER, create=True) as place:
            if place is None:
                return []
            with place.alone(LOCK) as is_alone:
                if not is_alone:
                    return None
                _check_ours(place, session)
                _put(place, {_IGNORE: b"*\n"}, is_anew=False)
                changed = _put(place, wanted, is_anew=is_anew)
                _clear(place, session, wanted.keys())
        return [self.root / FOLDER / path for path in changed]

    def remove(self, session: str) -> bool:
        """Away with the files of a team that is no more, but not with what others have put there. False if another
        process is at it."""
        with folder.opened(self.root, FOLDER) as place:
            if place is None:
                return True
            with place.alone(LOCK) as is_alone:
                if is_alone:
                    _check_ours(place, session)
                    _clear(place, session, ())
                return is_alone

    def read(self, session: str, path: str, most: int) -> bytes:
        """For who wants to see what stands in a file; OSError if that cannot be read."""
        with folder.opened(self.root, FOLDER) as place:
            if place is None:
                raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(self.of(session)))
            return place.read(f"{session}/{path}", most)[0]


def _check_ours(place: Folder, session: str) -> None:
    path = f"{session}/{bus_file.NAME}"
    header = place.beginning(path, bus_file.HEADER)
    if header is not None and bus_file.is_foreign(header):
        raise Foreign(errno.EEXIST, "another program's database lies there", path)


def _put(place: Folder, wanted: Mapping[str, bytes], *, is_anew: bool) -> list[str]:
    changed = [path for path, content in wanted.items() if is_anew or not place.holds(path, content)]
    for path in changed:
        place.write(path, wanted[path], place.stamp(path), is_durable=False)
    return changed


def _clear(place: Folder, session: str, wanted: Collection[str]) -> None:
    """What is no longer the team's: inboxes of who has left it, and all of it where there is no team."""
    for path, stamp in place.walk(lambda name: name.startswith("."), _DEEPEST):
        of, _, own = path.partition("/")
        is_ours = own in _OWN or (own.startswith(f"{files.INBOXES}/") and own.endswith(".json"))
        if of == session and is_ours and path not in wanted:
            place.remove(path, stamp)
