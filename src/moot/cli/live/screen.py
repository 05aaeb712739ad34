"""The terminal while the live view is on it: keys come one by one and unseen, and whatever happens it is left as it was
found."""

import asyncio
import codecs
import os
import signal
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import contextmanager

from moot.cli import below, terminal

_PASTES, _PASTES_NO_MORE = "\x1b[?2004h", "\x1b[?2004l"  # marks around what is pasted
_LETTERS = 65_536
_LOCAL = 3  # of what termios says: the flags of the keyboard


class Keyboard:
    """Standard input, if a person is there; what they type as it comes, and its end as nothing."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._descriptor = sys.stdin.fileno()
        self._found = termios.tcgetattr(self._descriptor)

    def open(self) -> None:
        wanted = list(self._found)
        wanted[_LOCAL] &= ~(termios.ECHO | termios.ICANON)  # signals stay: Ctrl-C, Ctrl-Z
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, wanted)
        _write(_PASTES)
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._found)
        _write(_PASTES_NO_MORE)

    def _read(self) -> None:
        try:
            typed = os.read(self._descriptor, _LETTERS)
        except OSError:  # the terminal is gone
            typed = b""
        if not typed:
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._heard(self._decoder.decode(typed) if typed else "")


@contextmanager
def taken(keyboard: Keyboard | None, redraw: Callable[[], None]) -> Generator[None]:
    """While the block runs. `redraw` is called when the terminal has another size or is given back by the shell."""
    loop = asyncio.get_running_loop()

    def suspend() -> None:
        below.take_away()
        if keyboard is not None:
            keyboard.close()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # goes on here when the shell says so
        loop.add_signal_handler(signal.SIGTSTP, suspend)
        if keyboard is not None:
            keyboard.open()
        redraw()

    loop.add_signal_handler(signal.SIGWINCH, redraw)
    if keyboard is not None:
        loop.add_signal_handler(signal.SIGTSTP, suspend)
        keyboard.open()
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
        if keyboard is not None:
            loop.remove_signal_handler(signal.SIGTSTP)
            keyboard.close()
        below.take_away()


def _write(codes: str) -> None:
    sys.stdout.write(codes)
    terminal.flush()
