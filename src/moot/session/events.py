"""What sessions tell while they run."""

from dataclasses import field

from moot.core.records import record
from moot.models.model import Usage


@record
class Wrote:
    """A piece of text, as it comes."""

    text: str


@record
class Called:
    """A tool that was called, and has answered."""

    tool: str
    is_error: bool
    why: str = field(default="", compare=False)  # it went wrong


@record
class Warned:
    text: str


@record
class Used:
    """What one request has used."""

    usage: Usage


Event = Wrote | Called | Warned | Used
