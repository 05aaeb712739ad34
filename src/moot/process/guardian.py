"""A small process that outlives this one: should this one be killed, it ends what was started and removes what was
left, so that nobody has to come back for it."""

import contextlib
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from types import TracebackType

from moot.core import json
from moot.process import environment

_SECONDS = 5.0


class Guardian:
    """Started with the first thing to guard; `with guardian:` around all of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folders: dict[str, Path] = {}

    def __enter__(self) -> "Guardian":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            with self._process as process, contextlib.suppress(subprocess.TimeoutExpired, OSError):
                assert process.stdin is not None
                process.stdin.close()
                process.wait(_SECONDS)

    @contextlib.contextmanager
    def guarding(self, marker: str, folder: Path | None = None) -> Generator[None]:
        """While the block runs: processes with the marker, and the folder."""
        self.guard(marker, folder)
        try:
            yield
        finally:
            self.release(marker)

    def guard(self, marker: str, folder: Path | None = None) -> None:
        """From now on: processes with the marker, and the folder."""
        if self._process is None:
            self._process = _start()
        self._tell({"guard": marker, **({} if folder is None else {"folder": str(folder)})})

    def release(self, marker: str) -> None:
        """It was seen to."""
        self._tell({"release": marker})

    def folder(self, of: str) -> Path:
        """A private folder for temporary files, the same whenever it is asked for; gone when this process is."""
        found = self._folders.get(of)
        if found is None or not found.is_dir():  # systems clear up such folders
            found = self._folders[of] = Path(tempfile.mkdtemp(prefix="moot-"))
            self.guard(found.name, found)
        return found

    def _tell(self, line: dict[str, str]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it was ended itself: the next host clears up
            self._process.stdin.write(json.dump_bytes(line) + b"\n")
            self._process.stdin.flush()


@contextlib.contextmanager
def guarded(guardian: Guardian | None) -> Generator[str]:
    """A marker for processes that are to be ended should this one be killed."""
    marker = f"guarded-{secrets.token_hex(8)}"
    if guardian is None:
        yield marker
        return
    with guardian.guarding(marker):
        yield marker


def _start() -> "subprocess.Popen[bytes]":
    """In a session of its own, which no Ctrl-C reaches."""
    return subprocess.Popen(
        [sys.executable, "-m", "moot.process.guarding"],
        env=environment.build(also=("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
