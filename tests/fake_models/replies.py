"""What a scenario answers with: a reply of a model, or a fault."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fake_models.asked import Asked

# In our own words; each wire has its own name for each, or the nearest there is.
Stop = Literal["end", "tools", "max_tokens", "refusal", "pause", "stop_sequence"]

_ids = itertools.count(1)


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool. `raw` replaces the arguments on the wire, for what is not JSON."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = field(default_factory=lambda: f"call_{next(_ids):06}")
    raw: str | None = None


@dataclass(frozen=True)
class Used:
    """Tokens as the provider tells them; `input` is all of it, what the cache gave and took included."""

    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Reply:
    parts: tuple[Text | Call, ...]
    stop: Stop = "end"
    used: Used = Used()
    piece: int = 12  # how many characters go into one event of a stream
    pause: float = 0.0  # seconds between the events of a stream: a slow drip
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Status:
    """An HTTP status with an error in the words of the wire."""

    status: int
    message: str = "as the scenario says"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Dropped:
    """The connection breaks: before a word, or after so many events of a stream."""

    reply: Reply | None = None
    after: int = 0


@dataclass(frozen=True)
class Cut:
    """A stream that ends in good order, but before its time: the last events are missing, unless it has its mark."""

    reply: Reply
    after: int = 2
    is_marked: bool = False  # with the very last event


@dataclass(frozen=True)
class Hang:
    """Nothing more comes, from the beginning or after so many events, until the client gives up."""

    reply: Reply | None = None
    after: int = 0


@dataclass(frozen=True)
class Malformed:
    """Status 200, and then what is not JSON (in a stream: after so many good events)."""

    reply: Reply | None = None
    after: int = 0


@dataclass(frozen=True)
class ErrorEvent:
    """A stream that begins well and then tells of an error, as providers do when they are overloaded meanwhile."""

    reply: Reply
    after: int = 2
    message: str = "Overloaded"


Answer = Reply | Status | Cut | Dropped | Hang | Malformed | ErrorEvent
Computed = Callable[[Asked], Answer | Awaitable[Answer]]
Scenario = Computed | Sequence[Answer | Computed]


def say(text: str, *, stop: Stop = "end", used: Used = Used()) -> Reply:  # noqa: B008  # frozen
    return Reply((Text(text),), stop, used)


def call(name: str, **arguments: Any) -> Reply:
    return Reply((Call(name, arguments),), "tools")


def calls(*wanted: Call, text: str = "") -> Reply:
    """Several calls in one answer, with words before them if there are any."""
    return Reply((*((Text(text),) if text else ()), *wanted), "tools")


def rate_limited(seconds: float) -> Status:
    return Status(429, "Too many requests", {"retry-after": f"{seconds:g}"})
