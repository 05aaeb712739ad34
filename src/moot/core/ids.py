"""Identifiers: a prefix that says what it names, then time, then chance, so that they sort by age."""

import secrets
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


def new(prefix: str, now: datetime) -> str:
    """`ag_01k9z3…`: sortable by millisecond, unguessable within it."""
    milliseconds = clock.to_micros(now) // 1000
    return f"{prefix}_{_encode(milliseconds, _TIME_DIGITS)}{_encode(secrets.randbits(50), _CHANCE_DIGITS)}"


def _encode(number: int, digits: int) -> str:
    letters = [""] * digits
    for place in range(digits - 1, -1, -1):
        number, digit = divmod(number, 32)
        letters[place] = _ALPHABET[digit]
    return "".join(letters)
