"""What sessions tell while they run."""

from dataclasses import dataclass, field

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
    why: str = field(default="", compare=False)  # it went wrong


@dataclass(frozen=True, slots=True)
class Warned:
    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """What one request has used."""

    usage: Usage


Event = Wrote | Called | Warned | Used
