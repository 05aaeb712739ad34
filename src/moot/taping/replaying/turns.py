"""Turns: who is next. Notes are played one after the other, whoever plays them."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, cast

from moot.taping.replaying.score import Note


class Turns:
    """The place in a score. Lives on the loop's thread; `current` may be read from others."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._notes = notes
        self._place = {id(note): at for at, note in enumerate(notes)}
        self._done: set[int] = set()
        self._next = 0
        self._moved = asyncio.Event()
        self.bell = asyncio.Event()  # somebody waits for a turn

    @property
    def current(self) -> Note | None:
        """What is to be played now; None when all is played."""
        return self._notes[self._next] if self._next < len(self._notes) else None

    @property
    def left(self) -> Sequence[Note]:
        return [note for at, note in enumerate(self._notes) if at not in self._done]

    def has(self, note: Note) -> bool:
        return id(note) in self._place

    def is_done(self, note: Note) -> bool:
        return self._place[id(note)] in self._done

    async def of(self, note: Note) -> None:
        """Until it is this note's turn, or it was left out."""
        while self.current is not note and not self.is_done(note):
            await self.moved()

    def moved(self) -> Coroutine[None, None, bool]:
        """Waits until the place is another than it is at this moment."""
        return cast(Coroutine[None, None, bool], self._moved.wait())

    def done(self, note: Note) -> None:
        self.leave_out((note,))

    def leave_out(self, notes: Iterable[Note]) -> None:
        self._done |= {self._place[id(note)] for note in notes}
        while self._next in self._done:
            self._next += 1
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()


async def first_of(*waits: Coroutine[Any, Any, Any]) -> None:
    """Until one of them is over."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
