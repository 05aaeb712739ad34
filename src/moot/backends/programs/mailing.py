"""Mail that comes while a program runs, written to its standard input before its next turn."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from moot.backends.backend import Assignment, Letter
from moot.backends.programs.launch import Launch
from moot.core import quoting
from moot.process.child import Running
from moot.process.errors import StdinClosed

_MOST = 50_000  # characters of one message


class Mailing:
    """Hands out what comes, until it is stopped."""

    def __init__(self, running: Running, launch: Launch, assignment: Assignment) -> None:
        self._running = running
        self._say = launch.say
        self._assignment = assignment
        self._is_waiting = False
        self._is_stopping = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        if self._say is not None:
            self._task = tasks.create_task(self._deliver())

    async def stop(self) -> None:
        """No more from now on. What is in our hands already is still delivered."""
        self._is_stopping = True
        if self._task is None or self._task.done():
            return
        if self._is_waiting:
            self._task.cancel()
        await asyncio.wait([self._task])

    def abandon(self) -> None:
        """The program has ended, or is about to."""
        if self._task is not None:
            self._task.cancel()

    async def _deliver(self) -> None:
        assert self._say is not None
        while not self._is_stopping:
            self._is_waiting = True
            letters = await self._assignment.more()
            self._is_waiting = False
            try:
                await self._running.write(self._say(worded(letters)))
            except StdinClosed:
                return  # who was sent something and never took it has not succeeded


@asynccontextmanager
async def mailing(running: Running, launch: Launch, assignment: Assignment) -> AsyncGenerator[Mailing]:
    """Mail is delivered while the block runs. What goes wrong in the block comes out of it as it is."""
    found = Mailing(running, launch, assignment)
    failure: BaseException | None = None
    async with asyncio.TaskGroup() as tasks:
        found.begin(tasks)
        try:
            yield found
        except BaseException as error:  # noqa: BLE001 - the group would wrap it
            failure = error
        found.abandon()
    if failure is not None:
        raise failure


def worded(letters: Sequence[Letter]) -> str:
    """As the first prompt shows mail."""
    told = quoting.arrived(
        quoting.letter(one.sender, one.body, _MOST, is_urgent=one.priority == "high") for one in letters
    )
    return f"{told}\n"
