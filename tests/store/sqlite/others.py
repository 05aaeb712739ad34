"""Other processes beside a test's own: small programs that talk in lines, and a hand to start and kill them.

Every program says a line when it is ready and ends when its standard input does.
"""

import asyncio
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import apsw

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.store import sqlite
from moot.store.sqlite.turnstile import Turnstile

DEADLINE = 20.0
ROOT = Path(__file__).parents[3]


class Other:
    """A running program."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout
        self._heard = b""

    def hears(self) -> str:
        """The next line it says."""
        until = monotonic() + DEADLINE
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self._output], [], [], max(0.0, until - monotonic()))
            assert ready, f"the other process said only {self._heard!r}"
            more = os.read(self._output.fileno(), 65_536)
            assert more, f"the other process ended after {self._heard!r}"
            self._heard += more
        line, self._heard = self._heard.split(b"\n", 1)
        return line.decode()

    def hears_until(self, last: str) -> list[str]:
        """All lines it says before this one."""
        return list(iter(self.hears, last))

    def last_words(self) -> list[str]:
        """What a process that has ended had still said, in whole lines."""
        *lines, _unfinished = (self._heard + self._output.read()).decode().split("\n")
        return lines

    def say(self, line: str) -> None:
        self._input.write(line.encode() + b"\n")
        self._input.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)

    def end(self) -> None:
        """Let it finish by itself."""
        self._input.close()
        assert self.process.wait(DEADLINE) == 0


@contextmanager
def other(program: Callable[..., None], *arguments: object) -> Generator[Other]:
    """Run one of the programs of this module in a process of its own, killed at the end if need be."""
    command = [sys.executable, "-m", __name__, program.__name__, *(str(argument) for argument in arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as process:
        try:
            yield Other(process)
        finally:
            process.kill()


def hold_database(database: str) -> None:
    """Hold SQLite's own writer lock, as a program that knows nothing of moot would."""
    connection = apsw.Connection(database)
    connection.execute("begin immediate")
    _say("held")
    sys.stdin.readline()
    connection.execute("rollback")


def hold_turn(database: str) -> None:
    """Stand in the turnstile."""
    with Telling(Path(database)):
        _say("held")
        sys.stdin.readline()


class Telling(Turnstile):
    """Says when its number is drawn: from then on it has a place in the queue."""

    def _draw(self) -> int:
        number = super()._draw()
        _say("drawn")
        return number


def take_turns(database: str, counter: str) -> None:
    """Go through the turnstile again and again, counting every time."""
    turnstile, count, mine = Turnstile(Path(database)), Counter(Path(counter)), 0
    is_over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), is_over.set())).start()
    _say("ready")
    while not is_over.is_set():
        with turnstile:
            count.add()
            mine += 1
    _say(str(mine))


class Counter:
    """A number in a file. Adding is not atomic: two at a time would lose one."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT)

    @property
    def value(self) -> int:
        return int.from_bytes(os.pread(self._file, 8, 0), "little")

    def add(self) -> None:
        value = self.value
        os.fsync(self._file)
        os.pwrite(self._file, (value + 1).to_bytes(8, "little"), 0)


def emit_events(database: str, stream: str, number: str, size: str = "0") -> None:
    """Write so many events of this size through a store, eight at a time, and say each number when it is answered."""

    async def emit() -> None:
        store = sqlite.open_file(Path(database), create=True)
        _say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        left = iter(range(int(number)))

        def change(tx: Tx) -> int:
            return tx.emit(Event(StreamId(stream), "said", str(os.getpid()), {"text": "x" * int(size)})).seq

        async def some() -> None:
            for _ in left:
                _say(str(await store.write(change, caller=SYSTEM)))

        await asyncio.gather(*(some() for _ in range(8)))
        await store.close()
        _say("done")

    asyncio.run(emit())


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    PROGRAMS: dict[str, Callable[..., None]] = {
        program.__name__: program for program in (hold_database, hold_turn, take_turns, emit_events)
    }
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
