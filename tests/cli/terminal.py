"""The program as a person or a script meets it: real processes in a project of their own."""

import asyncio
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from moot.api.connection import Connection, connect
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from tests.cli import nursery, session
from tests.cli.session import Session

T = TypeVar("T")
SECONDS = 60.0
UNSET = {"NO_COLOR", "COLUMNS", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs commands in one folder."""

    folder: Path
    bytecode: Path  # where the processes keep compiled modules, or each would compile them anew
    url: str | None = None  # the store's address; None for the project's own

    def run(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        """One command to its end."""
        if not nursery.fits(env or {}):
            return self._run(self.argv(*words), stdin, env)
        code, out, err = nursery.opened(self.bytecode).run(words, self.folder, self.env(env), stdin, SECONDS)
        return Ended(code, out.decode(), err.decode())

    def ok(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        """One command that must succeed."""
        ended = self.run(*words, stdin=stdin, env=env)
        assert ended.code == 0, ended
        return ended

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """A command that goes on; what it says can be read."""
        return subprocess.Popen(
            self.argv(*words), cwd=self.folder, env=self.env(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, bufsize=0,  # or a line that has come would hide from select behind the one before
        )  # fmt: skip

    def show(self, *words: str, env: Mapping[str, str] | None = None, typed: str = "") -> str:
        """What a person with a terminal sees of a command, having typed this ahead."""
        ours, theirs = pty.openpty()
        try:
            process = subprocess.Popen(
                self.argv(*words), cwd=self.folder, env=self.env(env), stdin=theirs, stdout=theirs, stderr=theirs
            )
            os.close(theirs)
            os.write(ours, typed.encode())
            shown = _read_all(ours)
            process.wait(SECONDS)
        finally:
            os.close(ours)
        return shown.decode().replace("\r\n", "\n")

    def typing(self, *words: str, env: Mapping[str, str] | None = None) -> AbstractContextManager[Session]:
        """A command with a person at the terminal."""
        return session.opened(self.argv(*words), self.folder, self.env({"NO_COLOR": "1", **(env or {})}))

    def python(self, code: str, env: Mapping[str, str] | None = None) -> Ended:
        """Some lines of Python, where a command would run."""
        return self._run([sys.executable, "-c", code], b"", env)

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "moot", *words]

    def env(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MOOT_") and name not in UNSET}
        ours = {
            "HOME": str(self.folder / "home"),
            "TERM": "xterm",
            "TZ": "UTC",
            "PYTHONPYCACHEPREFIX": str(self.bytecode),
        }
        store = {} if self.url is None else {"MOOT_STORE": self.url}
        return {**kept, **ours, **store, **(more or {})}

    def _run(self, argv: list[str], stdin: bytes, env: Mapping[str, str] | None) -> Ended:
        done = subprocess.run(
            argv, cwd=self.folder, env=self.env(env), input=stdin, capture_output=True, timeout=SECONDS, check=False
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def act(self, work: Callable[[Connection], Awaitable[T]], *, instance: str | None = None) -> T:
        """Do something to the same store from within the test."""

        async def connected() -> T:
            async with connect(
                "channel_send", store=self.url, instance=instance, create=True, start=self.folder
            ) as connection:
                return await work(connection)

        return asyncio.run(connected())

    def join(self, name: str, *, instance: str = "default", backend: str = "scripted", source: str = "") -> Agent:
        """Make an agent known."""
        new = NewAgent(name=name, backend=backend, metadata={"source": source} if source else {})

        def change(tx: Tx) -> Agent:
            return agents.register(tx, instances.ensure(tx, instance), new)

        return self.act(lambda connection: connection.store.write(change, caller=connection.caller))


def read_line(process: "subprocess.Popen[bytes]") -> str:
    """The next line of its output, within the time there is."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], SECONDS)
    assert ready, "nothing was said in time"
    return process.stdout.readline().decode()


def interrupt(process: "subprocess.Popen[bytes]") -> Ended:
    """Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return finish(process)


def finish(process: "subprocess.Popen[bytes]") -> Ended:
    out, err = process.communicate(timeout=SECONDS)
    return Ended(process.returncode, out.decode(), err.decode())


def _read_all(descriptor: int) -> bytes:
    until = time.monotonic() + SECONDS
    found = b""
    while time.monotonic() < until:
        ready, _, _ = select.select([descriptor], [], [], 1.0)
        if not ready:
            continue
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # EIO: the other end is closed
            return found
        if not piece:
            return found
        found += piece
    raise AssertionError("the command did not end in time")
