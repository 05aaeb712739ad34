"""A command on a real terminal, with somebody who reads and types."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60.0


class Session:
    """What was shown so far, and a keyboard."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int) -> None:
        self._process = process
        self._ours = ours
        self._seen = b""

    @property
    def shown(self) -> str:
        return self._seen.decode(errors="replace").replace("\r\n", "\n")

    @property
    def code(self) -> int:
        return self._process.wait(SECONDS)

    def type(self, line: str) -> None:
        os.write(self._ours, line.encode() + b"\n")

    def interrupt(self, *, twice: bool = False) -> None:
        """Ctrl-C; the second time as another signal, which cannot be lost in the first."""
        os.write(self._ours, b"\x03")
        if twice:
            self._process.terminate()
        self.read_to_end()

    def kill(self) -> None:
        self._process.kill()
        self.read_to_end()

    def until(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + SECONDS
        while self.shown.count(text) < times:
            assert time.monotonic() < deadline, f"{text!r} was not shown: {self.shown}"
            assert self._read(), f"it ended without {text!r}: {self.shown}"

    def read_to_end(self) -> None:
        deadline = time.monotonic() + SECONDS
        while self._read():
            assert time.monotonic() < deadline, f"it did not end: {self.shown}"

    def _read(self) -> bool:
        """False when the program has closed the terminal."""
        ready, _, _ = select.select([self._ours], [], [], 1.0)
        if not ready:
            return True
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self._seen += piece
        return bool(piece)


@contextmanager
def opened(argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> Generator[Session]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: _take(theirs),  # noqa: PLW1509  # one system call, which no thread can disturb
    )  # fmt: skip
    os.close(theirs)
    session = Session(process, ours)
    try:
        yield session
        session.read_to_end()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


def _take(terminal: int) -> None:
    """Make it the terminal that the program's signals come from."""
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
