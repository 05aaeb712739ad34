"""Marks: how often something was done for a team in a run, for what is done once, or only so often."""

from moot.core.tx import ReadTx, Tx
from moot.store import queries
from moot.teams.teams import Team

sql = queries.beside(__file__)


def add(tx: Tx, team: Team, name: str) -> int:
    """Once more: how often it is now."""
    return tx.one(sql.add, int, instance=team.instance, run=team.run, name=name)


def count(tx: ReadTx, team: Team, name: str) -> int:
    return tx.maybe(sql.count, int, instance=team.instance, run=team.run, name=name) or 0


def names(tx: ReadTx, team: Team) -> frozenset[str]:
    """Everything that was done at least once."""
    return frozenset(tx.all(sql.names, str, instance=team.instance, run=team.run))


def clear(tx: Tx, team: Team) -> None:
    """A person lets it go on: everything may be done as often as at the beginning."""
    tx.run(sql.clear, instance=team.instance, run=team.run)
