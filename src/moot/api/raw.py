"""What an agent has written and done on its way, as the host on this machine has noted it."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import BinaryIO

from moot.api.access import Access
from moot.api.targets import Target
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.registry import agents, instances
from moot.runner import trails

_LOOK = 0.25  # seconds between two looks at a file that somebody follows
Line = Mapping[str, Json]


async def file_of(access: Access, target: Target) -> Path:
    """Where it is noted; AgentNotFound if nobody is called so."""

    def look(tx: ReadTx) -> str:
        instance = instances.get(tx, target.instance)
        return agents.named(tx, instance.stream, target.agent or "").name

    name = await access.store.read(look)
    return trails.file_of(access.project.folder, target.instance, name)


class Tail:
    """Reads a file to its end, and what is added later, also in the file that takes its place."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._inode = 0
        self._read = 0  # bytes

    def more(self) -> list[Line]:
        try:
            with self._file.open("rb") as lines:
                return self._more(lines)
        except FileNotFoundError:
            return []

    def _more(self, lines: BinaryIO) -> list[Line]:
        inode = os.fstat(lines.fileno()).st_ino
        if inode != self._inode:
            self._inode, self._read = inode, 0
        lines.seek(self._read)
        content, end, _ = lines.read().rpartition(b"\n")  # what has no end yet comes with the next look
        self._read += len(content) + len(end)
        return [found for line in content.splitlines() if (found := _line(line)) is not None]


async def lines(file: Path, limit: int, *, is_followed: bool) -> AsyncGenerator[Line]:
    """The last ones; then what comes, until nobody asks any more."""
    tail = Tail(file)
    for line in deque((*Tail(file.with_suffix(".old")).more(), *tail.more()), limit):
        yield line
    while is_followed:
        await asyncio.sleep(_LOOK)
        for line in tail.more():
            yield line


def _line(line: bytes) -> Line | None:
    """None for what a full disk or a killed host has left of one."""
    try:
        return json.load_object(line)
    except InvalidInput:
        return None
