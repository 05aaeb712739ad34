"""The way in and out: whatever happens in between, a person sees words and a script sees a documented exit code.

0 done, 1 failed, 2 wrong usage, 3 a limit was reached, 4 waiting for a person, 130 interrupted.
"""

import contextlib
import gc
import os
import signal
import sys
from importlib import import_module
from types import FrameType
from typing import NoReturn


def main(module: str = "moot.cli.program") -> NoReturn:
    """A console script; the module has its commands. Leaves without taking the interpreter apart, which is an eighth of
    a short command's CPU."""
    signal.signal(signal.SIGTERM, _end)
    gc.disable()  # until the loop runs: a start makes many objects and no garbage, and to look for it takes 20 ms
    code = run(sys.argv, module)
    if os.environ.get("MOOT_DEBUG"):
        sys.exit(code)
    with contextlib.suppress(OSError, AttributeError):  # closed, or never opened: nobody is listening
        sys.stderr.flush()
    os._exit(code)


def run(argv: list[str], module: str = "moot.cli.program") -> int:
    """One command from the command line's words to its exit code."""
    try:
        # Imported here, so that an interrupt during the import is an interrupt and not a traceback.
        from moot.cli import terminal

        _check(argv)

        code = import_module(module).call(program_name(argv[0]), argv[1:])
        terminal.flush()
    except BaseException as error:  # noqa: BLE001  # the boundary of the program
        _hear_no_more()
        from moot.cli import failures

        return failures.tell(error, as_json="--json" in argv)
    return code


def _check(argv: list[str]) -> None:
    """Nothing that moot keeps could hold them."""
    from moot.core.errors import InvalidInput
    from moot.core.text import is_text

    for one in argv:
        if not is_text(one):
            shown = os.fsencode(one).decode(errors="backslashreplace")
            raise InvalidInput(f"The argument {shown[:80]} is not UTF-8.", "Write it in UTF-8.")


def _hear_no_more() -> None:
    """It ends anyway: whoever presses Ctrl-C twice sees no traceback of the words that tell why."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    """SIGTERM, until a host looks after it by itself: as Ctrl-C would, whatever that does at the moment."""
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # ignored, as in the background of a script
        raise KeyboardInterrupt
    interrupt(signal.SIGINT, frame)


def program_name(path: str) -> str:
    """`moot`, or what the script is called."""
    name = os.path.basename(path)
    return "moot" if name in ("", "-c", "__main__.py") else name
