"""The records around one run of a program: what to start, how to read what it prints, and how it says it ended."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from datetime import datetime
from typing import ClassVar, Protocol

from moot.backends.backend import Assignment, Briefing, Called, Conversation, Failure, Usage, Warned, Wrote
from moot.backends.programs import faults
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record

Event = Mapping[str, Json]
NOTHING_USED = Usage()
Spoken = Wrote | Called | Warned | Usage


class CannotLaunch(MootError):
    """Something that the program needs is missing; nothing was started."""

    code = "CANNOT_LAUNCH"

    def __init__(self, failure: Failure, fact: str, remedy: str) -> None:
        super().__init__(fact, remedy)
        self.failure: Failure = failure


@record
class Outcome:
    """How it went, as the program itself says."""

    failure: Failure | None = None
    error: str = ""
    text: str = ""
    usage: Usage = NOTHING_USED  # of this attempt alone
    conversation: Conversation | None = None
    wait_until: datetime | None = None


class Reader(ABC):
    """Makes sense of what one run of a program prints. Most programs end with an event that says how it went, and tell
    what they have used only then."""

    end: Event | None = None

    @abstractmethod
    def read(self, event: Event) -> Iterable[Spoken]:
        """What one line tells."""

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """How it went; None if it did not say."""

    @property
    def is_over(self) -> bool:
        """Whether it has said how it went, for everything that it was asked."""
        return self.end is not None

    @property
    def is_hopeless(self) -> bool:
        """Whether going on would only cost: the outcome is there, and the program is ended."""
        return False

    def used(self) -> Usage:
        """What was used as far as that is known: for a program that was ended."""
        return Usage(is_estimated=True)

    def explain(self, printed: str) -> Failure | None:
        """What the last words of a program that did not say how it went mean, if that is certain. Its own words: what
        its agent said is not among them."""
        return faults.by_words(printed)


@record
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


def headed(briefing: Briefing) -> str:
    """The prompt with the system prompt at its head, for a program that takes none beside its own."""
    if not briefing.system_prompt:
        return briefing.prompt
    return f"<instructions>\n{briefing.system_prompt}\n</instructions>\n\n{briefing.prompt}"


class Kind(Protocol):
    """One program that moot knows how to run as an agent."""

    name: ClassVar[str]
    forgotten: ClassVar[str]  # what it prints if a conversation to go on with is gone; empty: it goes on with none

    def launch(self, assignment: Assignment, briefing: Briefing, parent: Mapping[str, str]) -> Launch:
        """What to start; CannotLaunch if it could not succeed. Files are written into the private folder only."""
        ...
