"""The sockets a server listens on: a private one in the file system, and one on the loopback address."""

import errno
import fcntl
import ipaddress
import os
import socket
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from moot.core.errors import MootError
from moot.core.sockets import short_path

_BACKLOG = 512


class ServerRunning(MootError):
    """Somebody serves at this address already."""

    code = "SERVER_RUNNING"


class AddressRefused(MootError):
    """The address cannot, or must not, be listened on."""

    code = "ADDRESS_REFUSED"
    exit_code = 2


class UnixSocket:
    """A listening socket in the file system, for this user alone."""

    def __init__(self, path: Path) -> None:
        """Take the path. A socket there that nobody serves any more is replaced, a living one is not."""
        self.path = path
        self._folder = _open_folder(path)
        try:
            with _alone(path.name, self._folder):
                _make_room(path, self._folder)
                self.listening = _listen(path, self._folder)
                self._identity = _identity(path.name, self._folder)
        except BaseException:
            os.close(self._folder)
            raise

    def leave(self) -> None:
        """Take the name away, unless it is another server's by now; who is connected stays connected."""
        with suppress(FileNotFoundError):
            if _identity(self.path.name, self._folder) == self._identity:
                os.unlink(self.path.name, dir_fd=self._folder)

    def close(self) -> None:
        self.leave()
        self.listening.close()
        os.close(self._folder)


def tcp(host: str, port: int) -> socket.socket:
    """Listen on this machine only; port 0 takes a free one."""
    if not _is_loopback(host):
        raise AddressRefused(
            f"{host!r} would open the server to other machines.",
            "Listen on 127.0.0.1, and bring others in through a tunnel (ssh -L).",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise AddressRefused(
            f"{host}:{port} cannot be listened on: {error.strerror}.", "Choose another port, or 0 for any."
        ) from error
    listening.setblocking(False)
    return listening


def url_of(listening: socket.socket, path: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _open_folder(path: Path) -> int:
    try:
        return os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise AddressRefused(
            f"There is no folder for a socket at {path}: {error.strerror}.", "Make it first."
        ) from error


@contextmanager
def _alone(name: str, folder: int) -> Generator[None]:
    """Two servers that start at once must not both find the same dead socket and replace each other's."""
    lock = os.open(f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _make_room(path: Path, folder: int) -> None:
    try:
        mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise AddressRefused(f"{path} is there and is not a socket.", "Move it away.")
    if _answers(short_path(path, folder)):
        raise ServerRunning(f"Another server listens on {path}.", "Use it, or stop it first.")
    os.unlink(path.name, dir_fd=folder)


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        result = probe.connect_ex(address)
    # A full backlog (EAGAIN) belongs to somebody who lives.
    return result not in (errno.ECONNREFUSED, errno.ENOENT)


def _listen(path: Path, folder: int) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(short_path(path, folder))
        # Nobody can connect before `listen`, so nobody gets in while the mode is still the default one.
        os.chmod(path.name, 0o600, dir_fd=folder)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise AddressRefused(f"{path} cannot be listened on: {error.strerror}.", "Choose another path.") from error
    listening.setblocking(False)
    return listening


def _identity(name: str, folder: int) -> tuple[int, int]:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return found.st_dev, found.st_ino
