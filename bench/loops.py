"""The event loop that hosts of moot run on, for what moot is measured by."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")


def runner() -> asyncio.Runner:
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def run(work: Coroutine[Any, Any, T]) -> T:
    with runner() as made:
        return made.run(work)
