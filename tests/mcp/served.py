"""Servers and relays as processes of their own, which tests can kill."""

import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DEADLINE = 60.0


def relay_command(socket: Path, *more: str) -> list[str]:
    return [sys.executable, str(HERE / "relay_process.py"), str(socket), *more]


def environment(token: str = "") -> dict[str, str]:
    return {"MOOT_TOKEN": token, "PATH": os.environ["PATH"], "PYTHONPATH": str(HERE.parents[1])}


class Served:
    """A server on `folder/served.sock` with one agent, ann."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "served.sock"
        self.store = folder / "served" / "moot.db"
        self.process = self._started()
        self.token = (folder / "token").read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=DEADLINE)

    def stop(self) -> None:
        """Alive and silent, from the moment this returns."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def start_again(self) -> None:
        self.process = self._started()

    def _started(self) -> "subprocess.Popen[str]":
        command = [sys.executable, str(HERE / "server_process.py"), str(self.folder)]
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process
