"""Looks that are shared: a hundred viewers who look at the same after the same event are told by one look.

Whoever asks is told how things are after it asked. So nobody gets the answer of a look that had begun before; but a
look that is made again and again begins only a while after the one before, for all who have asked meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable

from moot.core.records import record

_APART = 0.25  # seconds between the beginnings of two looks at the same


@record
class Content:
    """An answer as it is sent."""

    body: bytes
    type: str


Look = Callable[[], Awaitable[Content]]


class Sharing:
    """Works while `run()` does."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._begun: dict[Hashable, float] = {}  # when the last look was
        self._awaited: dict[Hashable, asyncio.Future[Content]] = {}  # looks that have not begun

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            while True:
                await asyncio.sleep(_APART)
                oldest = asyncio.get_running_loop().time() - _APART
                self._begun = {key: begun for key, begun in self._begun.items() if begun > oldest}

    async def answer(self, key: Hashable, look: Look) -> Content:
        """What the next look at this finds, by whomever it is made."""
        assert self._group is not None
        found = self._awaited.get(key)
        if found is None:
            found = self._awaited[key] = asyncio.get_running_loop().create_future()
            self._group.create_task(self._look(key, look, found))
        return await asyncio.shield(found)

    async def _look(self, key: Hashable, look: Look, found: "asyncio.Future[Content]") -> None:
        loop = asyncio.get_running_loop()
        try:
            if key in self._begun:
                await asyncio.sleep(self._begun[key] + _APART - loop.time())
            self._begun[key] = loop.time()
            del self._awaited[key]
            found.set_result(await look())
        except asyncio.CancelledError:
            found.cancel()
            raise
        except Exception as error:  # noqa: BLE001  # each of those who asked has its own boundary, and is told there
            found.set_exception(error)
            found.exception()  # nobody may be left to hear it
