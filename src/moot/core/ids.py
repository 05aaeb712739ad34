"""Identifiers: a prefix that says what it names, then time, then chance, so that they sort by age."""

import os
import struct
import threading
from typing import NewType

AgentId = NewType("AgentId", str)
AttemptId = NewType("AttemptId", str)
BoardId = NewType("BoardId", str)
CheckpointId = NewType("CheckpointId", str)
FlowId = NewType("FlowId", str)
HostId = NewType("HostId", str)
InstanceName = NewType("InstanceName", str)
JobId = NewType("JobId", str)
MessageId = NewType("MessageId", str)
OperationId = NewType("OperationId", str)
ProposalId = NewType("ProposalId", str)
RequestId = NewType("RequestId", str)
RunId = NewType("RunId", str)
StreamId = NewType("StreamId", str)
TaskId = NewType("TaskId", str)
TokenId = NewType("TokenId", str)
WorkspaceId = NewType("WorkspaceId", str)

DEFAULT_INSTANCE = InstanceName("default")  # meant wherever none is named

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: ids are read aloud and typed
_TIME_DIGITS = 10  # 50 bits of milliseconds last for 35,000 years


def new(prefix: str, micros: int) -> str:
    """`ag_01k9z3…`: sorts by time, and within one process by the order of making, however fast."""
    return _maker.make(prefix, micros // 1000)


def milliseconds(id: str) -> int:
    """When it was made, since 1970; ValueError if it is no id."""
    found = 0
    for digit in id.partition("_")[2][:_TIME_DIGITS]:
        found = found << 5 | _ALPHABET.index(digit)
    return found


class _Maker:
    """After the time come a count of 20 bits, which begins anywhere in each millisecond, and 30 bits that nobody can
    guess. Ids are made for every message, so what one millisecond's ids share is written once, and chance is fetched
    from the system and spelled for many at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds = -1
        self._time = ""
        self._count = 0
        self._beginnings: list[int] = []
        self._chances: list[str] = []

    def make(self, prefix: str, milliseconds: int) -> str:
        with self._lock:
            if milliseconds == self._milliseconds:
                self._count += 1
            else:
                self._begin(milliseconds)
            count = self._count
            if not self._chances:
                self._chances = _chances()
            return f"{prefix}_{self._time}{_PAIRS[count >> 10 & 1023]}{_PAIRS[count & 1023]}{self._chances.pop()}"

    def _begin(self, milliseconds: int) -> None:
        if not self._beginnings:
            self._beginnings = [*struct.unpack(f"{_DRAWN}I", os.urandom(4 * _DRAWN))]
        self._milliseconds = milliseconds
        self._time = _encode(milliseconds)
        self._count = self._beginnings.pop() >> 13  # with room above it for the millisecond

    def forget(self) -> None:
        """In a child process: what it would draw next, its parent draws too."""
        self.__init__()


_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_DRAWN = 64  # at a time
_CHANCE_DIGITS = 6
_DIGITS = _ALPHABET.encode() * 8  # of every byte


def _chances() -> list[str]:
    """A byte for each digit: what it says beyond five bits is dropped. (`secrets` would draw the same, and is slow to
    import.)"""
    drawn = os.urandom(_CHANCE_DIGITS * _DRAWN).translate(_DIGITS).decode()
    return [drawn[at : at + _CHANCE_DIGITS] for at in range(0, len(drawn), _CHANCE_DIGITS)]


def _encode(number: int) -> str:
    """50 bits in ten digits, two at a time."""
    pairs = _PAIRS
    return (
        pairs[number >> 40 & 0x3FF]
        + pairs[number >> 30 & 0x3FF]
        + pairs[number >> 20 & 0x3FF]
        + pairs[number >> 10 & 0x3FF]
        + pairs[number & 0x3FF]
    )


_maker = _Maker()
os.register_at_fork(after_in_child=_maker.forget)
