"""Writes a view whole or not at all: a reader never sees half a file."""

import os
import tempfile
from pathlib import Path


def replace(file: Path, content: str) -> None:
    """Put the content in place in one step, readable by its owner only."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(content)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
