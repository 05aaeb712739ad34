"""Patterns: how an agent works with others. Only what is said; `graph` knows where it leads."""

from collections.abc import Mapping
from typing import Literal

from moot.core.records import record
from moot.core.teams import Team

Kind = Literal["agent", "advisor", "handoff", "destination", "member", "supervisor"]
WHAT: Mapping[Kind, str] = {
    "agent": "a sub-agent",
    "advisor": "an advisor",
    "handoff": "who goes on",
    "destination": "a destination",
    "member": "a member of the team",
    "supervisor": "a supervisor",
}


@record
class Patterns:
    """The names of those an agent works with."""

    agents: tuple[str, ...] = ()  # sub-agents, which it calls as tools
    advisors: tuple[str, ...] = ()
    handoff: str | None = None
    destinations: tuple[str, ...] = ()  # of a router
    team: Team | None = None


ALONE = Patterns()


@record
class Tie:
    """One of those names, and what the other is to the agent."""

    kind: Kind
    name: str


def ties(patterns: Patterns) -> tuple[Tie, ...]:
    """All of them, in the order in which they come into play."""
    team = patterns.team
    return (
        *(Tie("advisor", name) for name in patterns.advisors),
        *(Tie("agent", name) for name in patterns.agents),
        *(Tie("member", name) for name in (team.members if team else ())),
        *([Tie("supervisor", team.supervisor)] if team else []),
        *(Tie("destination", name) for name in patterns.destinations),
        *([Tie("handoff", patterns.handoff)] if patterns.handoff is not None else []),
    )
