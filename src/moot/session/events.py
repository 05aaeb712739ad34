"""What sessions tell while they run."""

from dataclasses import dataclass

from moot.models.model import Usage


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


Event = Wrote | Called | Warned | Used
