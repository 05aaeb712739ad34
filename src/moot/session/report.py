"""What comes of a session: an answer, a choice of somebody else who will answer, or a failure in words."""

from datetime import datetime
from typing import Literal

from moot.core.records import record
from moot.models.model import Kind

# A limit is one of turns, of time, or of what the model can hold.
Failure = (
    Kind
    | Literal[
        "limit",
        "budget",  # nothing may be spent on it any more
        "invalid",  # its report has the wrong shape
        "reported",  # it said so itself
        "stopped",  # somebody has stopped it, and it had nothing to report
        "shutdown",  # moot ends, and goes on with it when the run is resumed
    ]
)


@record
class Route:
    """The agent to whom a router passes the request, and a word that goes with it."""

    agent: str
    message: str = ""


@record
class Report:
    """Of a failure, `text` is what was said until then."""

    text: str = ""
    agent: str = ""  # whose answer it is
    failure: Failure | None = None
    error: str = ""
    until: datetime | None = None  # when the provider wants to be asked again
    route: Route | None = None
    provider: str = ""  # who wants that

    @property
    def is_put_off(self) -> bool:
        """A provider asks to wait, the budget is used up, or moot ends: nobody's end, and nobody is told. The whole
        tree goes on from here, later."""
        return self.failure in ("rate_limit", "budget", "shutdown")
