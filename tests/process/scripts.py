"""Programs for tests to run, as argument lists, and looking at what became of them."""

import os
import sys

from moot.process import identity


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-c", script)


# Ignores SIGTERM, as do a child in its group and a daemon that left it; prints their three pids, and stays.
STUBBORN = python("""
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
reader, writer = os.pipe()

def stay():
    os.write(writer, b"%d\\n" % os.getpid())
    while True:
        signal.pause()

if os.fork() == 0:
    stay()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    stay()
os.wait()
pids = b""
while pids.count(b"\\n") < 2:
    pids += os.read(reader, 100)
os.write(1, b" ".join([b"%d" % os.getpid(), *pids.split()]) + b"\\n")
while True:
    signal.pause()
""")


def living(pids: str) -> list[int]:
    """Of pids in a line, those that are alive."""
    return [pid for pid in map(int, pids.split()) if identity.of(pid) is not None]


def await_exit(pid: int) -> None:
    """Wait until a child is a zombie."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def is_zombie(pid: int) -> bool:
    """Whether a child has exited and was not reaped."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
