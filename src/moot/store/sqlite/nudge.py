"""Wake-ups between processes on one machine: an empty datagram to every socket in the store's `-wake` folder.

A nudge is a hint. It may be lost or come twice; a poll of `data_version` once a second catches what is lost. So nothing
here fails a commit or a listener.
"""

import asyncio
import contextlib
import logging
import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

from moot.core.sockets import short_path

_log = logging.getLogger("moot.store")
_CLOCK_TICK = 1_000_000_000  # nanoseconds; file systems stamp changes every few milliseconds, some every second


class Nudges:
    """Sends to all others; receives on one socket while somebody listens."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        # A path through the folder's descriptor stays short however deep the project lies.
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._sender.setblocking(False)
        self._receiver: socket.socket | None = None
        self._name = ""
        self._others: list[str] = []
        self._seen_change = -1

    def send(self) -> None:
        """Wake every other process. Called from the writer thread after a commit."""
        for name in self._targets():
            try:
                self._sender.sendto(b"", self._address(name))
            except ConnectionRefusedError:
                self._forget(name)
            except OSError as error:  # most often its buffer is full of nudges already
                _log.debug("no nudge to %s: %s", name, error)

    def receive(self, ring: Callable[[], None]) -> None:
        """Start to listen, on the running event loop."""
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.setblocking(False)
        self._name = f"{os.getpid()}-{os.urandom(4).hex()}"
        try:
            receiver.bind(self._address(self._name))
        except OSError as error:
            receiver.close()
            _log.warning("no wake-ups from other processes but once a second: %s", error)
            return
        self._receiver = receiver

        def drain() -> None:
            with contextlib.suppress(OSError):
                while True:
                    receiver.recv(16)
            ring()

        asyncio.get_running_loop().add_reader(receiver, drain)

    def stop_receiving(self) -> None:
        if self._receiver is not None:
            asyncio.get_running_loop().remove_reader(self._receiver)
            self._receiver.close()
            self._receiver = None
            self._forget(self._name)

    def close(self) -> None:
        self._sender.close()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _targets(self) -> list[str]:
        change = os.fstat(self._descriptor).st_mtime_ns
        if change != self._seen_change:
            self._others = os.listdir(self._descriptor)
            # A socket that appears after this look may carry the same stamp: trust only one that has grown old.
            self._seen_change = change if time.time_ns() - change > _CLOCK_TICK else -1
        return [name for name in self._others if name != self._name]

    def _forget(self, name: str) -> None:
        """Remove a dead socket, and nothing but a socket: the folder is in the reach of people."""
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=self._descriptor)

    def _address(self, name: str) -> str:
        return short_path(self._folder / name, self._descriptor)
