"""A shell in tmux: a terminal as people have it, with what is on its screen at the moment."""

import itertools
import os
import re
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

SECONDS = 40.0


class Screen:
    def __init__(self, folder: str, env: Mapping[str, str]) -> None:
        self._env = {**env, "TMUX_TMPDIR": folder}
        self._env.pop("TMUX", None)
        self._marks = itertools.count()
        self._pipe = Path(folder) / "written"
        os.mkfifo(self._pipe)
        self._written = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)

    def open(self, folder: Path, columns: int, rows: int) -> None:
        size = ("-x", str(columns), "-y", str(rows))
        self.tmux("-f", os.devnull, "new-session", "-d", *size, "-c", str(folder), "PS1='$ ' exec sh")
        self.tmux("pipe-pane", f"cat > '{self._pipe}'")

    def close(self) -> None:
        self.tmux("kill-server")
        os.close(self._written)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return self.tmux("capture-pane", "-p")

    @property
    def history(self) -> str:
        """The same with what has left it, long lines in one piece."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-")

    @property
    def colours(self) -> str:
        """The same as the text, with its colours."""
        return self.tmux("capture-pane", "-p", "-e")

    def until(self, claim: str | Callable[[str], object]) -> str:
        """Until it is on the screen: words, or whatever is said of the text."""
        deadline = time.monotonic() + SECONDS
        while True:
            text = self.text
            if claim in text if isinstance(claim, str) else claim(text):
                return text
            left = deadline - time.monotonic()
            assert left > 0, f"{claim!r} was not shown:\n{text}"
            if select.select([self._written], [], [], left)[0]:  # something was written: look again
                os.read(self._written, 65536)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", "--", text)

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", *names)

    def enter(self, line: str) -> None:
        self.type(line)
        self.keys("Enter")

    def ask(self, command: str) -> str:
        """What a command in the shell prints, on one line."""
        mark = f"answer{next(self._marks)}"
        self.enter(f'echo "{mark}<$({command})>{mark}"')
        found = re.compile(rf"{mark}<([^$]*)>{mark}$", re.MULTILINE)
        answered = found.search(self.until(found.search))
        assert answered is not None
        return answered[1].replace("\n", "")

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def is_said(self, what: str) -> str:
        """What tmux knows of the terminal, as in `cursor_flag`."""
        return self.tmux("display-message", "-p", f"#{{{what}}}").strip()

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", *words], env=self._env, capture_output=True, timeout=SECONDS, check=True, text=True
        )
        return done.stdout


@contextmanager
def opened(folder: Path, env: Mapping[str, str], columns: int = 100, rows: int = 30) -> Generator[Screen]:
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux here")
    with tempfile.TemporaryDirectory(prefix="moot") as place:  # sockets need short names
        screen = Screen(place, env)
        try:
            screen.open(folder, columns, rows)
            yield screen
        finally:
            screen.close()
