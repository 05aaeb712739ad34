"""What an agent is in the team of its instance, where there is one."""

from moot.core.tx import ReadTx
from moot.registry import names
from moot.registry.agents import Agent
from moot.teams import teams
from moot.teams.teams import Part, Team


def part_of(tx: ReadTx, agent: Agent) -> Part | None:
    """None for who is in no team: people who look on, and everybody in an ordinary run."""
    team = teams.find(tx, agent.instance)
    return None if team is None else part_in(team, agent.name)


def part_in(team: Team, name: str) -> Part | None:
    folded = names.fold(name)
    return next((part for member, part in team.members.items() if names.fold(member) == folded), None)
