"""Reading a file, and listing what is there."""

import asyncio
import time
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field

from moot.core.folder import Folder
from moot.session.source import Outcome
from moot.session.workspace import paths
from moot.session.workspace.errors import FileRefused
from moot.session.workspace.given import Given
from moot.session.workspace.globs import Glob
from moot.session.workspace.place import DEEPEST, Place, is_binary

_MOST_LINES = 10_000
_MOST_NAMES = 1_000
_SECONDS = 10.0  # to look through folders


class Read(Given):
    path: Annotated[str, Field(description="Relative to the working directory")]
    offset: Annotated[int, Field(ge=1, description="The first line")] = 1
    limit: Annotated[int, Field(ge=1, le=_MOST_LINES, description="How many lines")] = 2_000


class List(Given):
    pattern: Annotated[
        str, Field(max_length=1_000, description="Of paths: * within a name, ** for any folders: src/**/*.py")
    ] = "*"


async def read(place: Place, given: Read) -> Outcome:
    path = paths.readable(given.path)
    content, _ = await asyncio.to_thread(place.read, path)
    if is_binary(content):
        raise FileRefused(f"{path[:200]!r} is not a text.", "Look at it with a program, if you may.")
    text = content.decode(errors="replace")
    lines = text.removesuffix("\n").split("\n") if text else []
    notes: list[str] = []
    shown = lines[given.offset - 1 : given.offset - 1 + given.limit]
    end = given.offset - 1 + len(shown)
    if not shown and lines:
        raise FileRefused(f"{path[:200]!r} has {len(lines):,} lines.", "Begin with an earlier one.")
    if text.encode() != content:
        notes.append("some bytes are not UTF-8, and shown as \ufffd")
    if end < len(lines):
        notes.append(f"{len(lines):,} lines in all; read on with offset {end + 1}")
    footer = f"\n… ({'; '.join(notes)})" if notes else ""
    return Outcome("\n".join(shown) + footer if shown else "(the file is empty)")


async def list_(place: Place, given: List) -> Outcome:
    found, is_whole = await asyncio.to_thread(_found, place, Glob(_checked(given.pattern)))
    if not found:
        return Outcome("Nothing there matches." if is_whole else "Nothing was found in time. Name a folder to look in.")
    rest = "" if is_whole else f"\n… (not all: {len(found):,} were found before this was stopped. Be more exact.)"
    return Outcome("\n".join(found) + rest)


def _checked(pattern: str) -> str:
    """A pattern is held to the same border as a path."""
    return paths.readable(pattern) if pattern.strip("./") else "*"


def _found(place: Place, glob: Glob) -> tuple[list[str], bool]:
    """The paths, and whether these are all."""
    with place.opened(".") as folder:
        found = list(islice(_matching(folder, glob), _MOST_NAMES + 2))
    is_whole = None not in found and len(found) <= _MOST_NAMES
    return [path for path in found if path is not None][:_MOST_NAMES], is_whole


def _matching(folder: Folder, glob: Glob) -> Iterator[str | None]:
    """None if the time is up."""
    until = time.monotonic() + _SECONDS
    for path, _ in folder.walk(paths.is_closed, glob.depth or DEEPEST):
        if glob.matches(path.rstrip("/")):
            yield paths.shown(path)
        if time.monotonic() > until:
            yield None
            return
