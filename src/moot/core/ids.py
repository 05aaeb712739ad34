"""Identifiers: a prefix that says what it names, then time, then chance, so that they sort by age."""

import os
import threading
from datetime import datetime
from typing import NewType

from moot.core import clock

AgentId = NewType("AgentId", str)
AttemptId = NewType("AttemptId", str)
HostId = NewType("HostId", str)
InstanceName = NewType("InstanceName", str)
JobId = NewType("JobId", str)
MessageId = NewType("MessageId", str)
OperationId = NewType("OperationId", str)
RunId = NewType("RunId", str)
StreamId = NewType("StreamId", str)
TokenId = NewType("TokenId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: ids are read aloud and typed
_TIME_DIGITS = 10  # 50 bits of milliseconds last for 35,000 years
_CHANCE_DIGITS = 10  # 50 bits in one millisecond
_STEP_BITS = 32  # between two ids that one process makes in one millisecond


def new(prefix: str, now: datetime) -> str:
    """`ag_01k9z3…`: sorts by time, and within one process by the order of making, however fast."""
    milliseconds = clock.to_micros(now) // 1000
    return f"{prefix}_{_encode(milliseconds, _TIME_DIGITS)}{_encode(_chances.draw(milliseconds), _CHANCE_DIGITS)}"


class _Chances:
    """Numbers nobody can guess, that only grow within one millisecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds = -1
        self._last = 0

    def draw(self, milliseconds: int) -> int:
        with self._lock:
            if milliseconds != self._milliseconds:
                self._milliseconds = milliseconds
                self._last = _random(5 * _CHANCE_DIGITS) >> 1  # room above it for the rest of the millisecond
            else:
                self._last += 1 + _random(_STEP_BITS)
            return self._last % (1 << 5 * _CHANCE_DIGITS)


def _random(bits: int) -> int:
    # `secrets` would say the same in more words, and is slow to import.
    return int.from_bytes(os.urandom(7)) >> (56 - bits)


_chances = _Chances()


def _encode(number: int, digits: int) -> str:
    """Two digits at a time: ids are made for every message."""
    return "".join(_PAIRS[number >> shift & 0x3FF] for shift in range(5 * (digits - 2), -1, -10))


_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
