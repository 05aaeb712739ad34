"""A provider asks to wait: all who use it do, and it is said once."""

from datetime import datetime, timedelta

from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import pauses

PAUSED = "provider_paused"
_LONGEST = timedelta(days=1)


@record
class Wait:
    """What a provider has asked for. If it did not say until when, it is longer with every time."""

    provider: str
    error: str
    until: datetime | None = None


def pause(tx: Tx, stream: StreamId, wait: Wait, least: timedelta) -> datetime:
    """Until when it is."""
    until = wait.until or pauses.growing(tx, wait.provider, least)
    until = min(max(until, tx.now + least), tx.now + _LONGEST)
    reason = first_line(wait.error)
    if pauses.pause(tx, wait.provider, until, reason):
        told = {"until": until.isoformat(), "reason": reason}
        tx.announce(Event(stream, PAUSED, wait.provider, told, is_quiet=True))
    return until


def first_line(error: str) -> str:
    """What fits into a notice; the event has more."""
    return (error.strip().splitlines() or ["no reason given"])[0][:300]
