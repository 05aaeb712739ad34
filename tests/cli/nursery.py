"""Commands in processes of their own that need not import everything anew: forked from one that has done so.

To start Python and import moot is most of what a command of a test costs. What is forked here runs the same `main` with
its own arguments, environment, folder and streams. Commands that are typed at, killed or left running are started in
the usual way, and so is what depends on how Python itself is started.
"""

import atexit
import gc
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

_ROOT = Path(__file__).parents[2]
_LOADED = (
    "moot.cli.main",
    "moot.cli.program",
    "moot.api.running",
    "moot.api.checking",
    "moot.api.plan_files",
    "moot.api.tasks",
    "moot.mcp.server",
    "moot.backends.scripted",
)
# Other programs than moot, which are meant where they stand for its first word, and what has their commands.
SCRIPTS = {"team_mailbox.sh": "moot.cli.team_mailbox", "team_control.sh": "moot.cli.team_control"}
_STARTED_WITH = ("PYTHON", "LC_", "LANG", "MOOT_DEBUG", "LD_")  # variables that matter before the first line runs
_HEAD = 4


def fits(env: Mapping[str, str]) -> bool:
    """Whether a command with these further variables can be forked."""
    return not any(name.startswith(_STARTED_WITH) for name in env)


@cache
def opened(bytecode: Path) -> "Nursery":
    """One for each process that runs tests."""
    ours, theirs = socket.socketpair()
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    argv = [sys.executable, "-m", "tests.cli.nursery", str(theirs.fileno())]
    process = subprocess.Popen(argv, cwd=_ROOT, env=env, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),))
    theirs.close()
    atexit.register(_close, ours, process)
    return Nursery(ours)


def _close(channel: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    channel.close()  # its end
    process.wait(10)


@dataclass(frozen=True, slots=True)
class Nursery:
    channel: socket.socket

    def run(
        self, words: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: bytes, seconds: float
    ) -> tuple[int, bytes, bytes]:
        """Exit code, output, errors; once nobody holds its streams any more."""
        (read_in, write_in), *heard = (os.pipe() for _ in range(4))
        request = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(self.channel, [len(request).to_bytes(_HEAD)], [read_in, *(write for _, write in heard)])
        self.channel.sendall(request)
        for descriptor in (read_in, *(write for _, write in heard)):
            os.close(descriptor)
        said: list[bytes] = [b"", b"", b""]
        readers = [
            threading.Thread(target=_read, args=(read, said, at), daemon=True) for at, (read, _) in enumerate(heard)
        ]
        readers.append(threading.Thread(target=_write, args=(write_in, stdin), daemon=True))
        until = time.monotonic() + seconds
        for one in readers:
            one.start()
        for one in readers:
            one.join(max(0.0, until - time.monotonic()))
        assert not any(one.is_alive() for one in readers), f"moot {' '.join(words)} did not end in time"
        return int(said[2]), said[0], said[1]


def _read(descriptor: int, said: list[bytes], at: int) -> None:
    with open(descriptor, "rb") as stream:
        said[at] = stream.read()


def _write(descriptor: int, data: bytes) -> None:
    try:
        with open(descriptor, "wb", buffering=0) as stream:
            stream.write(data)
    except BrokenPipeError:  # it has ended without reading
        pass


def _serve(channel: socket.socket) -> None:
    for name in _LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the ones below
    while True:
        head, streams, _, _ = socket.recv_fds(channel, _HEAD, 4)
        if not head:
            return
        request = json.loads(_exactly(channel, int.from_bytes(head)))
        if os.fork() == 0:
            channel.close()
            _raise_one(request, streams)
        for one in streams:
            os.close(one)


def _exactly(channel: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        found += channel.recv(length - len(found))
    return found


def _raise_one(request: Any, streams: list[int]) -> NoReturn:
    """Fork the command, wait for its end and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        _become(request, streams[:3])
    *others, answer = streams
    for one in others:
        os.close(one)
    _, status = os.waitpid(child, 0)
    os.write(answer, str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: Any, streams: list[int]) -> NoReturn:
    for at, one in enumerate(streams):
        os.dup2(one, at)
    os.closerange(3, 256)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    random.seed()
    words: list[str] = request["words"]
    script = SCRIPTS.get(words[0]) if words else None
    sys.argv = [*([] if script else [str(_ROOT / "src" / "moot" / "__main__.py")]), *words]
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False),  # noqa: SIM115
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    from moot.cli.main import main  # noqa: PLC0415  # loaded already

    main(script or "moot.cli.program")


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
