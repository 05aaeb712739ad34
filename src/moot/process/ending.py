"""Ending a process that is no child of this one: asked first, then killed. It is known by pid and start, so that nobody
is ended who only has its number by now."""

import asyncio
import os
import signal
from contextlib import suppress

from moot.process import identity
from moot.process.identity import ProcessIdentity

_LOOK_SECONDS = 0.05


async def is_over(process: ProcessIdentity, seconds: float) -> bool:
    """Whether it ends by itself in this time."""
    until = asyncio.get_running_loop().time() + seconds
    while identity.is_alive(process):
        if asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(_LOOK_SECONDS)
    return True


async def end(process: ProcessIdentity, seconds: float) -> bool:
    """False if not even killing it helps in this time; each way is given so long."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if identity.is_alive(process):
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
        if await is_over(process, seconds):
            return True
    return False
