"""Performs agents: by the patterns that stand in their records, and for each of those by performing others.

An agent is performed in four acts: its advisors are heard, its own session (or its team) works, and what comes of it is
its report, or the matter of whomever it chose or hands over to. Each act is a branch of the path, so that the whole
tree is the same in every execution.
"""

from dataclasses import dataclass

from moot.session import reports
from moot.session.agent import Agent, Cast
from moot.session.hearing import Deaf, Hearing
from moot.session.journal import Trigger, below
from moot.session.patterns import advisors, handoff, router, team
from moot.session.patterns.seat import Seat
from moot.session.report import Report
from moot.session.session import Part, Session
from moot.session.source import Source
from moot.session.stage import Stage
from moot.session.subagents import SubAgents


@dataclass(frozen=True, slots=True)
class Scene:
    """One agent to be performed: what it is asked, and where in the tree that is."""

    agent: Agent
    prompt: str
    path: str = ""
    trigger: Trigger = "root"
    depth: int = 0
    callers: tuple[str, ...] = ()  # who called it, from the first
    seat: Seat | None = None  # in a team, for whoever has the last word
    hearing: Hearing | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A report, and the session whose it is, if there is one that can be asked again."""

    report: Report
    session: Session | None = None
