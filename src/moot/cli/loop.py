"""The one place that starts an event loop."""

import asyncio
import contextlib
import gc
import logging
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

from moot.cli import terminal

T = TypeVar("T")
# By their names: most commands have no host, and shall not import one.
TROUBLE = ("moot.runner.trouble", "moot.views.trouble")


class _Warnings(logging.Handler):
    """What a host in this process cannot do, as a line for people."""

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):
            terminal.warn(record.getMessage())


_warnings = _Warnings()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end."""
    _prepare()
    return asyncio.run(work)


def host(work: Coroutine[Any, Any, T]) -> T:
    """The same for what runs agents or serves them: on a loop that takes longer to load than a short command takes at
    all, and less for everything after."""
    with host_runner() as runner:
        return runner.run(work)


def host_runner() -> asyncio.Runner:
    """What a host runs on."""
    import uvloop

    _prepare()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _prepare() -> None:
    """What libraries log, tracebacks included, is not for the terminal of a short command."""
    root = logging.getLogger()
    if not os.environ.get("MOOT_DEBUG") and not root.handlers:  # a command that wants more has chosen it before
        # Not by taking `lastResort` away, which makes logging complain that it has nowhere to go.
        root.addHandler(logging.NullHandler())
        for name in TROUBLE:
            logging.getLogger(name).addHandler(_warnings)
    gc.freeze()  # what is loaded stays
    gc.set_threshold(50_000)
    gc.enable()
