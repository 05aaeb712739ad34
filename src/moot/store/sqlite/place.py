"""Where an SQLite store may live: a writable place on a local file system, with a SQLite that keeps its word."""

import os
import re
from pathlib import Path

import apsw

from moot.store.errors import StorePlaceRefused
from moot.store.sqlite import faults

# Below this version a WAL reset can corrupt the database.
OLDEST_SQLITE = (3, 51, 3)
NETWORK = (
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "vboxsf", "afs", "afpfs", "ncpfs", "webdav", "davfs"}
    | {"ceph", "glusterfs", "lustre", "beegfs", "gpfs", "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "fuse.rclone"}
    | {"fuse.gcsfuse", "fuse.davfs2", "fuse.vmhgfs-fuse"}
)
_MOUNTS = Path("/proc/self/mounts")
_ESCAPED = re.compile(r"\\([0-7]{3})")  # a space in a mount point is written \040


def check(folder: Path) -> None:
    """Raise StorePlaceRefused unless a store can live in this folder."""
    check_sqlite(apsw.sqlite_lib_version())
    if _MOUNTS.exists():
        check_file_system(folder, os.fsdecode(_MOUNTS.read_bytes()))


def check_sqlite(version: str) -> None:
    found = tuple(int(part) for part in version.split(".")[:3])
    if found < OLDEST_SQLITE:
        needed = ".".join(str(part) for part in OLDEST_SQLITE)
        raise StorePlaceRefused(
            f"SQLite {version} can corrupt a database that several processes write; {needed} or newer is safe.",
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
        point = _ESCAPED.sub(lambda digits: chr(int(digits[1], 8)), point)
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, found
    return kind


def make_folder(folder: Path) -> None:
    """The folder of a store. A new one is private and has its own .gitignore; one in use stays as it is."""
    try:
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not any(folder.iterdir()):
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        for place in made:
            _sync(place.parent)
    except OSError as error:
        raise faults.no_room(error) or StorePlaceRefused(
            f"No store can be made in {folder}: {error.strerror}.", "Choose a writable place with --store."
        ) from error


def _sync(folder: Path) -> None:
    """A new folder survives a power loss only when the folder around it was written too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
