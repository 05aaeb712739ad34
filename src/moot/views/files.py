"""Writes a file whole or not at all: a reader never sees half of it."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from moot.core.errors import MootError


class FileRefused(MootError):
    """The file cannot be written; what was there before is still there."""

    code = "FILE_REFUSED"


def replace(file: Path, content: str) -> None:
    """Put the content in place in one step, readable by its owner only."""
    with replacing(file) as handle:
        handle.write(content)


@contextmanager
def replacing(file: Path) -> Generator[TextIO]:
    """A file to write to, which takes its place when the block has ended well. Devices and pipes are written directly:
    they have no place to take."""
    try:
        if file.exists() and not file.is_file():
            with file.open("w", encoding="utf-8", newline="\n") as handle:
                yield handle
        else:
            with _beside(file.resolve()) as handle:
                yield handle
    except OSError as error:
        raise FileRefused(
            f"{file} cannot be written: {error.strerror}.", "Check the path and its permissions."
        ) from error


@contextmanager
def _beside(file: Path) -> Generator[TextIO]:
    file.parent.mkdir(exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            yield handle
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
