"""A disk that fills up, fails, and loses its power: an SQLite VFS over the system's own.

It fails chosen calls of the writer thread, and keeps a model of what a power loss would leave: a write is safe only
after a sync that succeeded. After a sync that failed nobody knows about the writes before it, and a later sync that
succeeds says nothing about them either: the system has forgotten that they were not written.
"""

import random
import threading
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw
from typing_extensions import Buffer

Call = Literal["open", "read", "write", "sync", "truncate"]
Survives = Callable[[int], int]  # of a write with so many bytes that was not synced: how many reach the disk
_SECTOR = 512


FULL = apsw.SQLITE_FULL
BROKEN = apsw.SQLITE_IOERR_WRITE
UNSYNCED = apsw.SQLITE_IOERR_FSYNC


def everything(size: int) -> int:
    """A crash of the process: the system still writes what it was given."""
    return size


def nothing(size: int) -> int:
    """A power loss before the disk did any more than it had to."""
    return 0


def anything(seed: int) -> Survives:
    """A power loss in the middle: some writes are there, some are not, some in part."""
    dice = random.Random(seed)
    return lambda size: dice.choice((0, size, min(size, _SECTOR * dice.randrange(9))))


@dataclass(slots=True)
class Fault:
    """Which calls fail: those with the numbers `at`, from 1, among the calls of these kinds on this file."""

    code: int  # of SQLite's result codes
    calls: Container[Call]
    at: Container[int]
    file: Literal["-wal", "main"] = "-wal"
    thread: str = "moot-writer"
    seen: int = 0
    fired: int = 0

    def strikes(self, call: Call, file: str) -> bool:
        if file != self.file or call not in self.calls or threading.current_thread().name != self.thread:
            return False
        self.seen += 1
        self.fired += self.seen in self.at
        return self.seen in self.at


@dataclass(slots=True)
class _Write:
    offset: int
    data: bytes | None  # None: cut off here
    state: Literal["pending", "safe", "forgotten"] = "pending"


@dataclass(slots=True)
class _Content:
    """One file: what is safe for ever, and the writes since, in order."""

    safe: bytearray = field(default_factory=bytearray)
    writes: list[_Write] = field(default_factory=list[_Write])

    def sync(self, *, is_done: bool) -> None:
        for write in self.writes:
            if write.state == "pending":
                write.state = "safe" if is_done else "forgotten"
        while self.writes and self.writes[0].state == "safe":
            _apply(self.safe, self.writes.pop(0), everything)

    def after(self, survives: Survives) -> bytes:
        content = bytearray(self.safe)
        for write in self.writes:
            _apply(content, write, everything if write.state == "safe" else survives)
        return bytes(content)


def _apply(content: bytearray, write: _Write, survives: Survives) -> None:
    if write.data is None:
        if survives(1):
            del content[write.offset :]
        return
    data = write.data[: survives(len(write.data))]
    content.extend(bytes(max(0, write.offset + len(data) - len(content))))
    content[write.offset : write.offset + len(data)] = data


class Disk(apsw.VFS):
    """Register one, and open a store with `vfs=disk.name`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[Fault] = []
        self.on_change: Callable[[], None] | None = None  # called before every change of a file
        self.lock = threading.RLock()  # an image is of one moment
        self._contents: dict[Path, _Content] = {}
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary")
        self.strike("open", path)
        if path not in self._contents:
            found = path.read_bytes() if path.exists() else b""
            self._contents[path] = _Content(bytearray(found))
        return _File(self, path, self._contents[path], name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        with self.lock:
            super().xDelete(filename, syncdir)
            self._contents.pop(Path(filename), None)

    def strike(self, call: Call, path: Path) -> None:
        """Fail here if the plan says so."""
        if self.on_change is not None and call not in ("open", "read"):
            self.on_change()
        for fault in self.faults:
            if fault.strikes(call, "-wal" if path.name.endswith("-wal") else "main"):
                raise apsw.exception_for(fault.code)

    def image(self, database: Path, folder: Path, survives: Survives) -> Path:
        """Write into `folder` what would be found after a crash: the file and its log, without shared memory."""
        folder.mkdir(parents=True)
        with self.lock:
            for path in (database, database.with_name(database.name + "-wal")):
                if path in self._contents:
                    (folder / path.name).write_bytes(self._contents[path].after(survives))
        return folder / database.name


class _File(apsw.VFSFile):
    def __init__(
        self, disk: Disk, path: Path, content: _Content, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._disk = disk
        self._path = path
        self._content = content
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.strike("read", self._path)
        return super().xRead(amount, offset)

    def xWrite(self, data: Buffer, offset: int) -> None:
        whole = bytes(data)
        with self._disk.lock:
            try:
                self._disk.strike("write", self._path)
            except apsw.Error:
                self._write(whole[: len(whole) // 2], offset)  # a failed write leaves a part
                raise
            self._write(whole, offset)

    def xTruncate(self, newsize: int) -> None:
        with self._disk.lock:
            self._disk.strike("truncate", self._path)
            super().xTruncate(newsize)
            self._content.writes.append(_Write(newsize, None))

    def xSync(self, flags: int) -> None:
        with self._disk.lock:
            try:
                self._disk.strike("sync", self._path)
            except apsw.Error:
                self._content.sync(is_done=False)
                raise
            self._content.sync(is_done=True)

    def _write(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._content.writes.append(_Write(offset, data))
