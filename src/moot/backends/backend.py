"""The contract between the runner and whatever runs an agent."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from moot.core.ids import MessageId
from moot.core.json import Json
from moot.core.tool import Toolbox

Failure = Literal["error", "crash", "timeout", "no_result"]


@dataclass(frozen=True, slots=True)
class Letter:
    """A message, as an agent is shown it."""

    id: MessageId
    seq: int
    sender: str
    body: str
    kind: str
    priority: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Briefing:
    """In words what an attempt has to know: what woke it, what was said and written before, and how work goes here."""

    prompt: str = ""
    system_prompt: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Everything one attempt gets: who it is, what woke it, and its tools."""

    agent: str
    instance: str
    settings: Mapping[str, Json]
    inbox: tuple[Letter, ...]
    number: int  # 1 is the first attempt at this mail
    toolbox: Toolbox
    brief: Callable[[], Awaitable[Briefing]]  # made when it is asked for: not every backend reads it


@dataclass(frozen=True, slots=True)
class Wrote:
    """A piece of text on the way to the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the person should know, that did not stop the attempt."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What an attempt has used."""

    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    cost: float = 0.0  # dollars
    is_estimated: bool = False  # the price is not known for certain

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.turns + other.turns,
            self.cost + other.cost,
            self.is_estimated or other.is_estimated,
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of every attempt. `text` is posted for an agent that said nothing itself."""

    failure: Failure | None = None
    error: str = ""
    text: str = ""
    usage: Usage = Usage()


Progress = Wrote | Warned | Ended


class Backend(Protocol):
    """Runs one attempt. Cancelling the iteration ends everything the attempt has started."""

    def run(self, assignment: Assignment) -> AsyncIterator[Progress]: ...
