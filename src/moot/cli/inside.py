"""A command of an agent: done on its store, or through its server where only that can be reached."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from moot.api.access import OnlyServer
from moot.cli import loop

if TYPE_CHECKING:
    from moot.api.distant import Distant

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], instead: Callable[["Distant"], Coroutine[Any, Any, T]]) -> T:
    """Do the work; `instead` is the same without a store."""
    try:
        return loop.run(work)
    except OnlyServer as where:
        return loop.run(_served(where, instead))


async def _served(where: OnlyServer, instead: Callable[["Distant"], Coroutine[Any, Any, T]]) -> T:
    from moot.api import distant

    async with distant.reached(where) as reached:
        return await instead(reached)
