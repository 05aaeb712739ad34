"""What a session tells while it runs, and at its end."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from moot.models.model import Kind, Usage

Failure = Kind | Literal["limit"]  # of turns, or of what the model can hold


@dataclass(frozen=True, slots=True)
class Wrote:
    """A piece of text, as it comes."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool that was called, and has answered."""

    tool: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Warned:
    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """What one request has used."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event. `text` is what the model said at the end, of a failure what it had said until then."""

    text: str = ""
    failure: Failure | None = None
    error: str = ""
    until: datetime | None = None  # when the provider wants to be asked again


Event = Wrote | Called | Warned | Used | Finished
