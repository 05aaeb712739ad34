"""A running program: started, read, watched, and ended together with everything it has started."""

import asyncio
import contextlib
import secrets
import subprocess
import time
from collections.abc import AsyncGenerator

from moot.process import tree
from moot.process.errors import ProgramNotStarted, StdinClosed
from moot.process.exits import ExitWatch
from moot.process.lines import Lines
from moot.process.program import Ending, Finished, Program
from moot.process.spawn import spawn
from moot.process.streams import Streams


async def run(program: Program) -> Finished:
    """Run the program to its end. Cancelling ends its whole tree first."""
    async with start(program) as running:
        return await running.wait()


@contextlib.asynccontextmanager
async def start(program: Program) -> AsyncGenerator["Running"]:
    """Start the program; on leaving, however that happens, its whole tree is ended.

    A first cancellation still grants the tree its grace; a second one kills it at once.
    """
    running = _launched(program)
    failure: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as tasks:
            running.supervise(tasks)
            try:
                yield running
            except BaseException as error:  # noqa: BLE001 - the group would cut the grace short and wrap the error
                failure = error
            running.stop()
    finally:
        running.close()
    if failure is not None:
        raise failure


def _launched(program: Program) -> "Running":
    marker = secrets.token_hex(8)
    popen = spawn(program, marker)
    family = tree.Tree(marker, group=popen.pid)
    try:
        return Running(program, popen, family)
    except (OSError, RuntimeError) as error:  # neither a descriptor nor a thread left to watch it with
        with popen:
            tree.kill(family)
        raise ProgramNotStarted(
            f"{program.argv[0]!r} could not be watched and was ended: {error}.", "Free some processes or files."
        ) from error


class Running:
    """A program under way; made by `start`."""

    def __init__(self, program: Program, popen: subprocess.Popen[bytes], family: tree.Tree) -> None:
        self._program = program
        self._popen = popen
        self._tree = family
        self._loop = asyncio.get_running_loop()
        self._started_at = time.monotonic()  # uvloop's own clock counts whole milliseconds, a short life as none
        self._over: asyncio.Future[Ending] = self._loop.create_future()
        self._exit = ExitWatch(popen.pid, lambda: self._end("exited"))
        self._streams = Streams(program, popen)
        self._timers: dict[Ending, asyncio.TimerHandle] = {}
        self._supervisor: asyncio.Task[Finished] | None = None
        self._is_ended = False

    @property
    def pid(self) -> int:
        return self._popen.pid

    def lines(self) -> Lines:
        """Standard output line by line, for one taker; a program that is far ahead of it is held back."""
        return self._streams.lines

    async def write(self, data: bytes) -> None:
        """Send more to the standard input of a program started with `stdin_stays_open`."""
        stdin = self._streams.stdin
        if stdin is not None and stdin.is_open:
            stdin.send(data)
            self._streams.heard_at = self._loop.time()
            if await stdin.sent():
                return
        raise StdinClosed(f"{self._program.argv[0]!r} no longer reads its standard input.", "Start it again.")

    def close_stdin(self) -> None:
        """Let the program see the end of its input, after what was sent."""
        if self._streams.stdin is not None:
            self._streams.stdin.finish()

    def stop(self) -> None:
        """Begin to end the tree; `wait` tells when it is done."""
        self._end("stopped")

    async def wait(self) -> Finished:
        """How it ended. Lines not taken by now are dropped, so take them first."""
        self._streams.lines.drop()
        assert self._supervisor is not None
        return await asyncio.shield(self._supervisor)

    def supervise(self, tasks: asyncio.TaskGroup) -> None:
        """Enforce the limits and end the tree, as a task of the group."""
        if self._program.deadline is not None:
            self._timers["deadline"] = self._loop.call_later(self._program.deadline, self._end, "deadline")
        if self._program.idle is not None:
            self._watch_idle(self._program.idle)
        self._supervisor = tasks.create_task(self._supervise())

    def close(self) -> None:
        """Kill what an interrupted end has left, reap the child, give back every descriptor."""
        for timer in self._timers.values():
            timer.cancel()
        self._exit.close()
        if not self._is_ended:
            tree.kill(self._tree)
        self._streams.close()
        self._popen.poll()

    async def _supervise(self) -> Finished:
        ended = await self._over
        survivors = await tree.end(self._tree, self._program.grace)
        self._is_ended = True
        self._streams.finish()
        return self._finished(ended, survivors)

    def _finished(self, ended: Ending, survivors: tuple[int, ...]) -> Finished:
        code = self._popen.poll()
        return Finished(
            ended=ended,
            exit_code=code if code is None or code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stdout=self._streams.stdout.content(),
            stderr=self._streams.stderr.content(),
            stdout_truncated=self._streams.stdout.is_truncated,
            stderr_truncated=self._streams.stderr.is_truncated,
            duration=time.monotonic() - self._started_at,
            survivors=survivors,
        )

    def _end(self, ending: Ending) -> None:
        if not self._over.done():
            self._over.set_result(ending)

    def _watch_idle(self, limit: float) -> None:
        quiet = 0.0 if self._streams.is_held_back else self._loop.time() - self._streams.heard_at
        if quiet >= limit:
            self._end("idle")
        else:
            self._timers["idle"] = self._loop.call_later(limit - quiet, self._watch_idle, limit)
