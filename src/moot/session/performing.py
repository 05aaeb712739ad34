"""How an errand is performed, and what comes of it."""

from typing import Protocol

from moot.core.records import record
from moot.session.agent import Agent
from moot.session.errand import Errand
from moot.session.hearing import Hearing
from moot.session.report import Report
from moot.session.session import Session
from moot.session.source import Source


class Seat(Protocol):
    """A place in a team, for the session that has the last word in a chain of agents."""

    def sources(self, agent: Agent) -> tuple[Source, ...]:
        """Instead of the tool with which others report."""
        ...

    def hearing(self) -> Hearing: ...

    def adapted(self, agent: Agent) -> Agent: ...

    async def take(self, session: Session) -> Report: ...


@record
class Played:
    """A report, and the session whose it is, if that can be asked again."""

    report: Report
    session: Session | None = None


class Perform(Protocol):
    async def __call__(self, errand: Errand, seat: Seat | None = None) -> Played: ...
