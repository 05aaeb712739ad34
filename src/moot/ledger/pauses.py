"""Pauses: a provider that asks one agent to wait asks all of them. They go on by themselves when it is over."""

from datetime import datetime, timedelta

from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
_LONGEST = timedelta(minutes=10)  # of a pause that we have chosen ourselves
_FORGOTTEN = timedelta(minutes=1)  # after this, and twice the pause, a provider is thought to be well again


@record
class Pause:
    provider: str
    until: datetime
    reason: str
    at: datetime  # when it began


def pause(tx: Tx, provider: str, until: datetime, reason: str) -> bool:
    """False if it was paused at least as long already."""
    return bool(tx.run(sql.pause, provider=provider, until=until, reason=reason, now=tx.now))


def of_provider(tx: ReadTx, provider: str) -> Pause | None:
    return tx.maybe(sql.of_provider, Pause, provider=provider, now=tx.micros)


def growing(tx: ReadTx, provider: str, first: timedelta) -> datetime:
    """Until when to wait for a provider that did not say: twice as long as the last time, if that was just now."""
    last = tx.maybe(sql.last, Pause, provider=provider)
    if last is None:
        return tx.now + first
    length = last.until - last.at
    if last.until > tx.now:
        return last.until
    if tx.now - last.until > 2 * length + _FORGOTTEN:
        return tx.now + first
    return tx.now + min(2 * length, _LONGEST)


def live(tx: ReadTx) -> list[Pause]:
    return tx.all(sql.live, Pause, now=tx.now)


def lift(tx: Tx, provider: str) -> bool:
    """False if there was none."""
    is_lifted = bool(tx.run(sql.lift, provider=provider))
    tx.wake()
    return is_lifted
