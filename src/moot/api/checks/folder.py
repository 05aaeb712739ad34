"""moot's own folder in the project: who may read it, how much room there is, whether its socket answers."""

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from moot.api import check
from moot.api.check import Check
from moot.app.project import Project
from moot.core.sockets import short_path

LEAST_ROOM = 100 << 20
SECONDS = 2.0
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PRIVATE_FILES = ("moot.db", "moot.db-wal", "moot.db-shm", "moot.sock", "errors.log")


def checks(project: Project) -> Iterator[Check]:
    yield check.guarded("room", lambda: _room(project))
    if project.folder.is_dir():
        yield check.guarded("private", lambda: _private(project.folder))
        yield check.guarded("socket", lambda: _socket(project.socket))


def _room(project: Project) -> Check:
    folder = project.folder if project.folder.is_dir() else project.root
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    fact = f"{free / (1 << 30):,.1f} GiB free at {folder}"
    return check.ok("room", fact) if free >= LEAST_ROOM else check.problem("room", fact, "Free some space.")


def _private(folder: Path) -> Check:
    """0700 for the folder, 0600 for what is in it: conversations and tokens are nobody else's."""
    open_folders = [folder] if folder.stat().st_mode & OTHERS else []
    files = [folder / name for name in PRIVATE_FILES]
    open_files = [file for file in files if file.exists() and not file.is_dir() and file.stat().st_mode & OTHERS]
    if not open_folders and not open_files:
        return check.ok("private", f"only you can read {folder}")
    remedies = [f"chmod 700 {file}" for file in open_folders] + [f"chmod 600 {file}" for file in open_files]
    names = ", ".join(str(file) for file in (*open_folders, *open_files))
    return check.problem("private", f"Others can read {names}.", f"Run: {'; '.join(remedies)}")


def _socket(path: Path) -> Check:
    if not path.exists():
        return check.ok("socket", "none; nobody serves this project")
    if not path.is_socket():
        return check.problem("socket", f"{path} is there and is not a socket.", "Move it away.")
    try:
        answer = _ask(path)
    except OSError as error:
        return check.problem(
            "socket",
            f"{path} is there, but nobody answers ({error.strerror or error}).",
            "Start moot serve, which takes it over, or remove it.",
        )
    if not answer.startswith(b"HTTP/"):
        return check.problem("socket", f"{path} answers, but not as moot does.", "Find out whose it is, or remove it.")
    return check.ok("socket", f"{path} answers")


def _ask(path: Path) -> bytes:
    """The beginning of the answer to an HTTP request, whatever it says."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(SECONDS)
            client.connect(short_path(path, folder))
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return client.recv(16)
    finally:
        os.close(folder)
