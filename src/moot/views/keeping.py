"""Something brought to disk again and again beside a block, and once more when the block has ended."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from moot.core.errors import MootError
from moot.store.errors import StoreNotFound
from moot.store.store import Store

T = TypeVar("T")
_log = logging.getLogger("moot.views")
_PAUSE = 0.2  # seconds at least between two looks at a busy store
_SHARE = 10.0  # times as long as a look has taken


@asynccontextmanager
async def kept(
    run: Callable[[], Awaitable[None]], look: Callable[[], Awaitable[object]], what: str
) -> AsyncGenerator[None]:
    """`run` while the block runs, then `look`. Neither ends the block: what goes wrong is logged."""
    # Not a TaskGroup: what the block raises has to reach the caller as it is, not in a group.
    running = asyncio.ensure_future(_logged(run, what))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        try:
            await look()
        except (MootError, OSError) as error:
            _log.warning("%s could not be brought to disk: %s", what, error)


async def follow(store: Store, look: Callable[[], Awaitable[object]], *, longest: float | None = None) -> None:
    """Look after every commit, and after `longest` seconds without one. Who looks for long looks more seldom: most of
    the time is for others."""
    loop = asyncio.get_running_loop()
    with store.listen() as signal:
        while True:
            signal.clear()
            begun = loop.time()
            try:
                await look()
            except StoreNotFound:
                return  # there is nothing left to show
            except (MootError, OSError) as error:
                _log.warning("the views could not be written: %s", error)
            await asyncio.sleep(max(_PAUSE, _SHARE * (loop.time() - begun)))
            await signal.wait(longest)


async def unbroken(doing: Coroutine[Any, Any, T]) -> T:
    """Do it to its end, also for a caller who is cancelled meanwhile: a thread at work in a folder cannot be stopped,
    and must not find it closed, or its number given to another file."""
    task = asyncio.ensure_future(doing)
    interruption: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is None:
        return task.result()
    if (failure := task.exception()) is not None:
        _log.warning("what was interrupted failed: %s", failure)
    raise interruption


def told(error: OSError) -> str:
    """Why a file cannot be written, and which, where the system says it: of a full disk it does not."""
    where = error.filename2 or error.filename
    return f"{error.strerror or error} ({where})" if where else f"{error.strerror or error}"


async def _logged(run: Callable[[], Awaitable[None]], what: str) -> None:
    try:
        await run()
    except Exception:  # noqa: BLE001  # the boundary of a task: nobody else would hear of it
        _log.exception("%s are not brought to disk any more", what)
