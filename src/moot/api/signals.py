"""The signals that ask a process to end: Ctrl-C, a supervisor, a terminal that is closed."""

import asyncio
import signal
from collections.abc import Callable


def hear(asked: Callable[[], None]) -> None:
    """Call `asked` each time. Whoever was started by nohup does not end with its terminal."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, asked)
