"""What others in this process say to whoever has a flow in hand, each word with the record of its call."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from moot.core.ears import Change, Word
from moot.core.json import Json
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.engine.flow.delta import Live

T = TypeVar("T")


class _Overtaken(Exception):
    """Something else has come first: nothing of this is kept."""


@dataclass(slots=True, eq=False)
class Heard:
    """A word, and whoever waits for what comes of it."""

    word: Word
    _write: Callable[[Change], Awaitable[None]]
    _is_over: "asyncio.Future[None]"

    async def keep(self, answer: Mapping[str, Json], commit: Callable[[Tx], Live | None]) -> Live | None:
        """What was committed with the record of the call. None if something else came first, or if that has failed,
        which whoever has made the call is told."""
        made: list[Live] = []

        def change(tx: Tx) -> Mapping[str, Json]:
            made.clear()  # of an earlier try nothing is left
            found = commit(tx)
            if found is None:
                raise _Overtaken
            made.append(found)
            return answer

        try:
            await self._write(change)
        except _Overtaken:
            return None
        except Exception as error:  # noqa: BLE001  # the call's own affair, and no fault of the flow
            if not self._is_over.done():
                self._is_over.set_exception(error)
            return None
        return made[-1] if made else None

    def end(self) -> None:
        if not self._is_over.done():
            self._is_over.set_result(None)


class Hearing:
    """The ear of one who has a flow in hand, as long as it has."""

    def __init__(self, signal: Signal) -> None:
        self._signal = signal
        self._waiting: deque[Heard] = deque()
        self._is_closed = False

    async def hear(self, word: Word, write: Callable[[Change], Awaitable[T]]) -> T | None:
        if self._is_closed:
            return None
        said: list[T] = []

        async def kept(change: Change) -> None:
            said.append(await write(change))

        is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(Heard(word, kept, is_over))
        self._signal.ring()
        await is_over
        return said[0] if said else None

    def next(self) -> Heard | None:
        """The first that nobody has taken in."""
        return self._waiting.popleft() if self._waiting else None

    @property
    def is_silent(self) -> bool:
        return not self._waiting

    def close(self) -> None:
        """What was said and not taken in has to be left in the store."""
        self._is_closed = True
        while (heard := self.next()) is not None:
            heard.end()
