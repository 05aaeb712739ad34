"""The event loop that hosts of moot run on, for what moot is measured by."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from moot.cli import loop

T = TypeVar("T")


def runner() -> asyncio.Runner:
    return loop.host_runner()


def run(work: Coroutine[Any, Any, T]) -> T:
    with runner() as made:
        return made.run(work)
