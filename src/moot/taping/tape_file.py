"""The file of a tape: one JSON document a line, each on disk as soon as it is known, so that whatever ends the process
leaves a tape that is whole up to there."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.taping import facts, tape
from moot.taping.tape import FORMAT, Happened, Header, Line, Outcome, Tape

MOST_BYTES = 1 << 28  # of a file: what can still be read at once
_MAKE_ONE = "Make one with moot run FILE --record."
_ANEW = "The recording is damaged: make a new one with moot run FILE --record."


class TapeInvalid(InvalidInput):
    """The file is no recording that this moot can play."""

    code = "RECORDING_INVALID"


def read(file: Path) -> Tape:
    """A recording, perhaps one that was cut short; TapeInvalid says what is wrong with the file."""
    first, *rest = _lines(file) or [b""]
    header = _header(file, first)
    lines = [_parsed(file, number, line) for number, line in enumerate(rest, 2)]
    outcome = lines.pop() if lines and isinstance(lines[-1], Outcome) else None
    if any(isinstance(line, Header | Outcome) for line in lines):
        raise TapeInvalid(f"{file} holds more than one recording.", "Keep each in a file of its own.")
    assert outcome is None or isinstance(outcome, Outcome)
    return Tape(header, tuple(lines), outcome)


def _lines(file: Path) -> list[bytes]:
    """Without what stands behind the last line's end: a line that was being written when the process was killed."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise TapeInvalid(f"{file} is too large.", "Record a shorter run.")
        return file.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise TapeInvalid(f"{file} cannot be read: {error.strerror}.", "Check the path.") from error


def _header(file: Path, line: bytes) -> Header:
    try:
        found = json.load_object(line)
    except InvalidInput as error:
        raise TapeInvalid(f"{file} is no recording of moot.", _MAKE_ONE) from error
    if found.get("type") != "recording":
        raise TapeInvalid(f"{file} is no recording of moot.", _MAKE_ONE)
    form, version = found.get("format"), str(found.get("moot", "of another version"))[:40]
    if isinstance(form, int) and form > FORMAT:
        raise TapeInvalid(f"{file} was recorded by a newer moot ({version}).", "Replay it with that one.")
    if form != FORMAT:
        raise TapeInvalid(f"{file} was recorded by an older moot ({version}).", "Record it anew.")
    parsed = _parsed(file, 1, line)
    assert isinstance(parsed, Header)
    return parsed


def _parsed(file: Path, number: int, line: bytes) -> Line:
    try:
        found = tape.parse(json.load_object(line))
    except (ValidationError, InvalidInput) as error:
        raise TapeInvalid(f"{file}:{number} is no line of a recording.", _ANEW) from error
    if isinstance(found, Happened) and (lacking := facts.missing(found)) is not None:
        raise TapeInvalid(f"{file}:{number} is damaged: `{lacking}` of {found.kind} is missing or wrong.", _ANEW)
    return found


def check_place(file: Path, *, is_over: bool = False) -> None:
    """TapeInvalid if something lies there that would be lost. `is_over` gives up a recording, and no other file."""
    if not file.exists() or not _first_line(file):
        return
    if not _is_tape(file):
        raise TapeInvalid(f"{file} is there, and is no recording.", "Choose another name.")
    if not is_over:
        raise TapeInvalid(
            f"{file} holds a recording.", "Choose another name, remove it, or write over it with --force."
        )


class Writer:
    """Writes a new tape, which only this user can read."""

    def __init__(self, file: Path, *, is_over: bool = False, most: int = MOST_BYTES) -> None:
        self._left = most
        check_place(file, is_over=is_over)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._file = os.fdopen(os.open(file, flags, 0o600), "wb")
            os.fchmod(self._file.fileno(), 0o600)
        except OSError as error:
            raise TapeInvalid(f"{file} cannot be written: {error.strerror}.", "Choose another place.") from error

    def write(self, line: Mapping[str, Json]) -> None:
        """OSError if it has no place there."""
        written = json.dump_bytes(line) + b"\n"
        self._left -= len(written)
        if self._left < 0:
            raise OSError(errno.EFBIG, "it has become too large")
        self._file.write(written)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _is_tape(file: Path) -> bool:
    """Whether moot has made it, in whatever version."""
    try:
        return json.load_object(_first_line(file)).get("type") == "recording"
    except InvalidInput:
        return False


def _first_line(file: Path) -> bytes:
    """Empty if nothing would be lost with it."""
    try:
        with file.open("rb") as opened:
            return opened.readline(1 << 20)
    except OSError as error:
        raise TapeInvalid(f"{file} cannot be written: {error.strerror}.", "Choose another place.") from error
