"""The tape: what happened in a run, as lines of JSON. Attempts and calls stand in it in the order in which they were
over; the numbers that the store gave to events come at its end."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json

FORMAT = 1
How = Literal["ended", "crashed", "cancelled"]
_MOST_BYTES = 1 << 30


class TapeInvalid(InvalidInput):
    """The file is no recording, or not a whole one."""

    code = "RECORDING_INVALID"


@dataclass(frozen=True, slots=True)
class Header:
    moot: str
    workflow: str
    setup: tuple[str, ...]  # the commands
    backends: Mapping[str, str]  # of the agents
    format: int = FORMAT
    type: Literal["recording"] = "recording"


@dataclass(frozen=True, slots=True)
class Letter:
    id: str
    sender: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Begin:
    """An attempt, with what woke it."""

    attempt: str
    agent: str
    number: int
    mail: tuple[Letter, ...]
    type: Literal["begin"] = "begin"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; `attempt` is None for those who come by themselves."""

    attempt: str | None
    caller: str
    role: str
    tool: str
    arguments: Mapping[str, Any]
    is_keyed: bool
    text: str
    structured: Mapping[str, Any]
    is_error: bool
    operation: str | None = None  # what it is on record as; None if it changed nothing
    type: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class More:
    """Mail that was handed out while an attempt ran."""

    attempt: str
    mail: tuple[Letter, ...]
    type: Literal["more"] = "more"


@dataclass(frozen=True, slots=True)
class Progress:
    """What an attempt let be known on the way: text, a tool of its own, a warning, usage."""

    attempt: str
    kind: Literal["wrote", "called", "warned", "used"]
    text: str = ""
    is_error: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    type: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended; what the store says of it counts where its backend was cut short."""

    attempt: str
    how: How
    failure: str | None = None
    error: str = ""
    text: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    type: Literal["end"] = "end"


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the store, with its number."""

    seq: int
    kind: str
    subject: str
    error: str = ""
    type: Literal["event"] = "event"


@dataclass(frozen=True, slots=True)
class Said:
    """A message, as it stands in the channel."""

    seq: int
    id: str
    sender: str
    kind: str
    body: str
    to: tuple[str, ...]
    attempt: str | None
    type: Literal["said"] = "said"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the run, and of its setup."""

    exit_code: int
    state: str
    outputs: tuple[str, ...]  # of the commands of setup
    failure: str = ""  # of the command that failed
    type: Literal["outcome"] = "outcome"


Line = Annotated[Header | Begin | Call | More | Progress | End | Happened | Said | Outcome, Field(discriminator="type")]
_LINE: TypeAdapter[Any] = TypeAdapter(Line)


@dataclass(frozen=True, slots=True)
class Tape:
    header: Header
    lines: tuple[Any, ...]  # all but the header and the outcome
    outcome: Outcome


def read(file: Path) -> Tape:
    """A whole recording; TapeInvalid says what is wrong with the file."""
    lines = [_parsed(file, number, line) for number, line in enumerate(_bytes(file).splitlines(), 1) if line.strip()]
    if not lines or not isinstance(lines[0], Header):
        raise TapeInvalid(f"{file} is no recording of moot.", "Make one with moot run FILE --record.")
    if lines[0].format != FORMAT:
        raise TapeInvalid(f"{file} was recorded by moot {lines[0].moot} in another form.", "Record it anew.")
    if not isinstance(lines[-1], Outcome):
        raise TapeInvalid(f"{file} ends before the run did.", "Record it anew.")
    return Tape(lines[0], tuple(lines[1:-1]), lines[-1])


def _bytes(file: Path) -> bytes:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise TapeInvalid(f"{file} is too large.", "Record a shorter run.")
        return file.read_bytes()
    except OSError as error:
        raise TapeInvalid(f"{file} cannot be read: {error.strerror}.", "Check the path.") from error


def _parsed(file: Path, number: int, line: bytes) -> Any:
    try:
        return _LINE.validate_python(json.load_object(line))
    except (ValidationError, InvalidInput) as error:
        remedy = "Make one with moot run FILE --record."
        raise TapeInvalid(f"{file}:{number} is no line of a recording.", remedy) from error


class Writer:
    """Writes a new tape, which only this user can read. Another recording may be written over, no other file."""

    def __init__(self, file: Path) -> None:
        if file.exists() and not _is_tape(file):
            raise TapeInvalid(f"{file} is there, and is no recording.", "Choose another name.")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._file = os.fdopen(os.open(file, flags, 0o600), "wb")
            os.fchmod(self._file.fileno(), 0o600)
        except OSError as error:
            raise TapeInvalid(f"{file} cannot be written: {error.strerror}.", "Choose another place.") from error

    def write(self, line: Mapping[str, Json]) -> None:
        self._file.write(json.dump_bytes(line) + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def plain(line: Any) -> dict[str, Json]:
    return _LINE.dump_python(line, mode="json")


def _is_tape(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            first = opened.readline(_MOST_BYTES)
        return not first.strip() or isinstance(_parsed(file, 1, first), Header)
    except (OSError, InvalidInput):
        return False
