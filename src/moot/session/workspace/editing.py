"""Changing a file: a part of it by exact replacement, or all of it."""

import asyncio
from typing import Annotated

from pydantic import Field

from moot.core.folder import Stamp
from moot.session.source import Outcome
from moot.session.workspace import paths
from moot.session.workspace.errors import EditRefused, FileRefused
from moot.session.workspace.given import Given
from moot.session.workspace.place import MOST_BYTES, Place, is_binary


class Edit(Given):
    path: Annotated[str, Field(description="Relative to the working directory")]
    old: Annotated[str, Field(min_length=1, description="The text to be replaced, exactly as it stands in the file")]
    new: Annotated[str, Field(description="What stands there then")]
    all: Annotated[bool, Field(description="Replace it everywhere; otherwise it must stand there once")] = False


class Write(Given):
    path: Annotated[str, Field(description="Relative to the working directory; folders are made as needed")]
    content: Annotated[str, Field(description="All of it; what was there is gone then")]


def check_edit(place: Place, given: Edit) -> None:
    paths.writable(given.path, place.orders)
    _encoded(given.new)
    if given.old == given.new:
        raise EditRefused("Old and new are the same text.", "Nothing was changed.")


def check_write(place: Place, given: Write) -> None:
    paths.writable(given.path, place.orders)
    _encoded(given.content)


async def edit(place: Place, given: Edit) -> Outcome:
    return await asyncio.to_thread(_edit, place, given)


def _edit(place: Place, given: Edit) -> Outcome:
    path = paths.writable(given.path, place.orders)
    content, stamp = place.read(path)
    old, new, text = given.old, given.new, _text(path, content)
    if old not in text and "\r\n" in text and "\r" not in old:  # models see no difference between line ends
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        raise EditRefused(f"The text to be replaced is not in {path[:200]!r}.", "Read the file, and copy it exactly.")
    if count > 1 and not given.all:
        raise EditRefused(
            f"The text to be replaced is in {path[:200]!r} {count} times.",
            "Give more of what is around it, or set `all`.",
        )
    _put(place, path, _encoded(text.replace(old, new)), stamp)
    return Outcome(f"{path}: replaced {'once' if count == 1 else f'{count} times'}.")


async def write(place: Place, given: Write) -> Outcome:
    return await asyncio.to_thread(_write, place, given)


def _write(place: Place, given: Write) -> Outcome:
    path = paths.writable(given.path, place.orders)
    before = place.stamp(path)
    if before is not None and not before.is_plain:
        raise FileRefused(f"{path[:200]!r} is no plain file with one name.", "Write to another path.")
    content = _encoded(given.content)
    _put(place, path, content, before)
    return Outcome(f"{path}: {'replaced' if before else 'written'}, {len(content):,} bytes.")


def _text(path: str, content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise FileRefused(f"{path[:200]!r} is not a text in UTF-8.", "It was not changed.") from None
    if is_binary(content):
        raise FileRefused(f"{path[:200]!r} is not a text.", "It was not changed.")
    return text


def _encoded(text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise EditRefused("The text is not valid Unicode.", "Nothing was changed.") from None
    if len(content) > MOST_BYTES:
        raise EditRefused(f"The file would be larger than {MOST_BYTES:,} bytes.", "Nothing was changed.")
    return content


def _put(place: Place, path: str, content: bytes, over: Stamp | None) -> None:
    if not place.write(path, content, over):
        raise EditRefused(f"{path[:200]!r} was changed by somebody else meanwhile.", "Nothing was done. Read it again.")
