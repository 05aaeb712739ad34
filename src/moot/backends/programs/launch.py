"""The records around one run of a program: what to start, how to read what it prints, and how it says it ended."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Protocol

from moot.backends.backend import Assignment, Briefing, Called, Conversation, Failure, Usage, Warned, Wrote
from moot.core.errors import MootError
from moot.core.json import Json

Event = Mapping[str, Json]
NOTHING_USED = Usage()
Spoken = Wrote | Called | Warned | Usage


class CannotLaunch(MootError):
    """Something that the program needs is missing; nothing was started."""

    code = "CANNOT_LAUNCH"

    def __init__(self, failure: Failure, fact: str, remedy: str) -> None:
        super().__init__(fact, remedy)
        self.failure: Failure = failure


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it went, as the program itself says."""

    failure: Failure | None = None
    error: str = ""
    text: str = ""
    usage: Usage = NOTHING_USED  # of this attempt alone
    conversation: Conversation | None = None
    wait_until: datetime | None = None


class Reader(Protocol):
    """Makes sense of what one run of a program prints."""

    def read(self, event: Event) -> Iterable[Spoken]:
        """What one line tells."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether it has said how it went, for everything that it was asked."""
        ...

    @property
    def is_hopeless(self) -> bool:
        """Whether going on would only cost: the outcome is there, and the program is ended."""
        ...

    def outcome(self) -> Outcome | None:
        """How it went; None if it did not say."""
        ...

    def used(self) -> Usage:
        """What was used as far as that is known: for a program that was ended."""
        ...

    def explain(self, printed: str) -> Failure | None:
        """What the last words of a program that did not say how it went mean, if that is certain."""
        ...


@dataclass(frozen=True, slots=True)
class Launch:
    """A program, ready to be started."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)  # all of it
    stdin: bytes = field(repr=False)
    reader: Reader
    say: Callable[[str], bytes] | None = None  # how mail that comes meanwhile is written to it; None: it cannot be
    secrets: tuple[str, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    around: Callable[[], AbstractContextManager[None]] = nullcontext  # what must be so while it runs


class Kind(Protocol):
    """One program that moot knows how to run as an agent."""

    name: ClassVar[str]
    forgotten: ClassVar[str]  # what it prints if a conversation to go on with is gone; empty: it goes on with none

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        """What to start; CannotLaunch if it could not succeed. Files are written into the private folder only."""
        ...
