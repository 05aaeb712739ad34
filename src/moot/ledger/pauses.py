"""Pauses: a provider that asks one agent to wait asks all of them. They go on by themselves when it is over."""

from dataclasses import dataclass
from datetime import datetime

from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)


@dataclass(frozen=True, slots=True)
class Pause:
    provider: str
    until: datetime
    reason: str


def pause(tx: Tx, provider: str, until: datetime, reason: str) -> bool:
    """False if it was paused at least as long already."""
    return bool(tx.run(sql.pause, provider=provider, until=until, reason=reason, now=tx.now))


def of_provider(tx: ReadTx, provider: str) -> Pause | None:
    return tx.maybe(sql.of_provider, Pause, provider=provider, now=tx.now)


def live(tx: ReadTx) -> list[Pause]:
    return tx.all(sql.live, Pause, now=tx.now)


def lift(tx: Tx, provider: str) -> bool:
    """False if there was none."""
    is_lifted = bool(tx.run(sql.lift, provider=provider))
    tx.wake()
    return is_lifted
