"""What agents say and do on their way, as lines of JSON: a file an agent, for people to look at. Nothing reads it back,
and losing it loses nothing."""

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Literal

from moot.backends.backend import Called, Ended, Progress, Warned, Wrote
from moot.core import clock, json, secrecy
from moot.core.clock import SystemClock
from moot.core.ids import AttemptId
from moot.core.records import record
from moot.core.text import counted
from moot.registry.names import fold
from moot.runner.begun import Begun

Kind = Literal["begin", "text", "tool", "warning", "end"]
Heard = Callable[[str, Kind, str], None]  # who did what
_MOST = 8_000_000  # bytes of a file; then the next attempt begins a new one, and the last one is kept
_MOST_OF_ATTEMPT = 4_000_000  # bytes; of the rest only its end is written down
_LONGEST = 20_000  # characters of a line
_CLOCK = SystemClock()
_log = logging.getLogger("moot.runner")


def file_of(folder: Path, instance: str, agent: str) -> Path:
    """`folder` is moot's own."""
    return folder_of(folder, instance) / f"{fold(agent)}.jsonl"


def folder_of(folder: Path, instance: str) -> Path:
    """Where those of an instance are; its name can be no instance's own."""
    return folder / "moot.raw" / instance


@record
class Trails:
    """The files of one project, and somebody who hears of the same."""

    folder: Path | None
    heard: Heard | None = None

    @contextmanager
    def open(self, begun: Begun) -> "Generator[Trail]":
        agent = begun.agent
        file = None if self.folder is None else file_of(self.folder, agent.instance, agent.name)
        heard = None if self.heard is None else partial(self.heard, agent.name)
        senders = ", ".join(dict.fromkeys(one.sender for one in begun.mail))
        trail = Trail(file, begun.attempt, (begun.token,), heard)
        try:
            trail.begin(f"attempt {begun.job.tries + 1}, {counted(len(begun.mail), 'message')} from {senders}")
            yield trail
        finally:
            trail.close()


class Trail:
    """One attempt's part of a file. What cannot be written is left out: it stops nobody's work."""

    def __init__(
        self,
        file: Path | None,
        attempt: AttemptId,
        secrets: tuple[str, ...] = (),
        heard: Callable[[Kind, str], None] | None = None,
    ) -> None:
        self._file = file
        self._heard = heard
        self._attempt = attempt
        self._secrets = secrets
        self._text = ""  # the line that is being written
        self._room = _MOST_OF_ATTEMPT
        self._is_full = False
        self._descriptor: int | None = None

    def begin(self, text: str) -> None:
        try:
            self._descriptor = None if self._file is None else _opened(self._file)
        except OSError as error:
            self._give_up(error)
        self._write("begin", secrecy.redact(text, self._secrets))

    def close(self) -> None:
        self._end_line()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def note(self, progress: Progress) -> None:
        match progress:
            case Wrote():
                self._tell(progress.text)
            case Called():
                self._add("tool", f"{progress.tool}{_failed(progress.why) if progress.is_error else ''}")
            case Warned():
                self._add("warning", progress.text)
            case Ended():
                self._add("end", f"{progress.failure}: {progress.error}" if progress.failure else "done")
            case _:
                pass

    def _tell(self, text: str) -> None:
        """Models write in pieces; people read in lines."""
        if self._is_full:
            return
        whole, newline, self._text = (self._text + text).rpartition("\n")
        if newline:
            self._write("text", *secrecy.redact(whole, self._secrets).split("\n"))
        if len(self._text) > _LONGEST:
            self._end_line()

    def _add(self, kind: Kind, text: str) -> None:
        self._end_line()
        self._write(kind, secrecy.redact(text, self._secrets))

    def _end_line(self) -> None:
        if self._text:
            self._write("text", secrecy.redact(self._text, self._secrets))
            self._text = ""

    def _write(self, kind: Kind, *texts: str) -> None:
        """Texts without secrets, in one stroke. When an attempt has filled its part, that is said, and only its end
        follows."""
        lines: list[bytes] = []
        for text in texts:
            if self._is_full and kind != "end":
                break
            lines.append(self._noted(kind, text))
            self._room -= len(lines[-1])
            if self._room <= 0 and not self._is_full:
                self._is_full = True
                lines.append(self._noted("warning", "it goes on, but no more of it is written down"))
        self._append(b"".join(lines))

    def _noted(self, kind: Kind, text: str) -> bytes:
        shown = text[:_LONGEST]
        if self._heard is not None:
            self._heard(kind, shown)
        line = {"at": clock.to_iso(_CLOCK.now()), "attempt": self._attempt, "kind": kind, "text": shown}
        return json.dump_bytes(line) + b"\n"

    def _append(self, lines: bytes) -> None:
        if self._descriptor is None:
            return
        try:
            os.write(self._descriptor, lines)
        except OSError as error:
            os.close(self._descriptor)
            self._descriptor = None
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        _log.warning("what %s does is not written down: %s", self._file and self._file.stem, error)


def _opened(file: Path) -> int:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileNotFoundError):
        if file.stat().st_size > _MOST:
            file.replace(file.with_suffix(".old"))
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _failed(why: str) -> str:
    first = why.strip().split("\n", 1)[0]
    return f" failed: {first}" if first else " failed"
