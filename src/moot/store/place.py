"""Where an SQLite store may live: a writable place on a local file system, with a SQLite that keeps its word."""

import os
from pathlib import Path

import apsw

from moot.store.errors import StorePlaceRefused

# Below this version a WAL reset can corrupt the database.
OLDEST_SQLITE = (3, 51, 3)
NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs", "fuse.s3fs")
    + ("drvfs", "webdav", "davfs", "afpfs", "ncpfs", "fuse.glusterfs", "fuse.rclone")
)
_MOUNTS = Path("/proc/self/mounts")


def check(folder: Path) -> None:
    """Raise StorePlaceRefused unless a store can live in this folder."""
    check_sqlite(apsw.sqlite_lib_version())
    if _MOUNTS.exists():
        check_file_system(folder, _MOUNTS.read_text(encoding="utf-8", errors="replace"))


def check_sqlite(version: str) -> None:
    found = tuple(int(part) for part in version.split(".")[:3])
    if found < OLDEST_SQLITE:
        needed = ".".join(str(part) for part in OLDEST_SQLITE)
        raise StorePlaceRefused(
            f"SQLite {version} can corrupt a database that several processes write; {needed} is the oldest that is safe.",
            "Install a newer apsw: pip install -U apsw.",
        )


def check_file_system(folder: Path, mounts: str) -> None:
    """Locks and shared memory of SQLite do not work between machines."""
    kind = file_system(folder, mounts)
    if kind in NETWORK:
        raise StorePlaceRefused(
            f"{folder} is on a network file system ({kind}), where SQLite's locks cannot be trusted.",
            "Use a local folder (--store sqlite:///path/moot.db), or PostgreSQL for several machines.",
        )


def file_system(folder: Path, mounts: str) -> str:
    """The type of the mount that holds the folder, from the text of /proc/mounts."""
    real = os.path.realpath(folder)
    best, kind = "", ""
    for line in mounts.splitlines():
        _, point, found, *_ = line.split(" ")
        point = point.encode().decode("unicode_escape")  # spaces are written \040
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, found
    return kind


def make_folder(folder: Path) -> None:
    """The private folder of a store, with its own .gitignore."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StorePlaceRefused(
            f"No store can be made in {folder}: {error.strerror}.", "Choose a writable place with --store."
        ) from error
    if not os.access(folder, os.W_OK):
        raise StorePlaceRefused(f"{folder} is read-only.", "Choose a writable place with --store.")
