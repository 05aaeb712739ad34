"""A turn of a session: what it is made with, and what it has come to so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from moot.core.json import Json
from moot.core.records import record
from moot.core.tree_path import TreePath
from moot.models.model import Answer
from moot.session import acting
from moot.session.acting import Offer
from moot.session.hearing import Heard
from moot.session.journal import Known
from moot.session.report import Failure, Report
from moot.session.source import Outcome


@record
class Last:
    """Why nothing is left but to come to an end."""

    because: str
    failure: Failure  # if that brings no report


@record
class Facts:
    """What nobody could find out again: it is on record with the request of the turn, for those who repeat it."""

    heard: Heard | None = None
    is_called_back: bool = False  # it was done, and goes on because of what it has heard
    last: Last | None = None

    def plain(self) -> dict[str, Json]:
        found: dict[str, Json] = {} if self.heard is None else {"heard": self.heard.plain()}
        if self.is_called_back:
            found["called_back"] = True
        return found if self.last is None else found | {"last": self.last.because, "reason": self.last.failure}

    @staticmethod
    def of(plain: Mapping[str, Json]) -> "Facts":
        heard = cast(Mapping[str, Json] | None, plain.get("heard"))
        last = Last(str(plain["last"]), cast(Failure, plain.get("reason", "limit"))) if "last" in plain else None
        return Facts(Heard.of(heard) if heard else None, bool(plain.get("called_back")), last)


_NO_ANSWER = Answer()


@dataclass(slots=True)
class Turn:
    number: int
    path: TreePath
    request: TreePath
    known: Known | None  # what is on record of its request, in a repetition
    facts: Facts
    offer: Offer = acting.NOTHING
    answer: Answer = _NO_ANSWER
    outcomes: Sequence[Outcome] = ()
    report: Report | None = None

    @property
    def is_answered(self) -> bool:
        """In an execution that is repeated now."""
        return self.known is not None and self.known.state == "done"
