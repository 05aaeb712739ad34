"""Whoever reads our output: a command that goes on for ever ends when they are gone."""

import asyncio
import os
import stat
import sys
from collections.abc import Coroutine
from typing import Any


async def while_read(work: Coroutine[Any, Any, None]) -> None:
    """Until it ends, or until the reader of the pipe that we write to has left."""
    task = asyncio.ensure_future(work)
    pipe = _pipe()
    is_gone = False

    def leave() -> None:
        nonlocal is_gone
        is_gone = True
        task.cancel()

    loop = asyncio.get_running_loop()
    if pipe is not None:
        loop.add_reader(pipe, leave)  # the end that is written to has nothing to read but the other end's closing
    try:
        await task
    except asyncio.CancelledError:
        if not is_gone:
            raise
    finally:
        if pipe is not None:
            loop.remove_reader(pipe)


def _pipe() -> int | None:
    """Standard output, if it is a pipe."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
        return None
    descriptor = sys.stdout.fileno()
    return descriptor if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else None
