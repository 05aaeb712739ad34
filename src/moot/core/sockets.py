"""Paths of unix sockets, which the system keeps short however deep a project lies."""

import os
from pathlib import Path

_LONGEST_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS


def short_path(path: Path, folder: int) -> str:
    """A spelling of `path` that fits in a socket address; `folder` is an open descriptor of its folder."""
    plain = os.fspath(path)
    if len(os.fsencode(plain)) <= _LONGEST_PATH:
        return plain
    return f"/proc/self/fd/{folder}/{path.name}"
