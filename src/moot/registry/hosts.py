"""Hosts: processes that serve tools, react and run agents, each with a lease that it renews."""

from datetime import datetime, timedelta
from typing import Literal

from moot.core import json
from moot.core.ids import HostId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
LEASE = timedelta(seconds=30)
ASKS = "ask"  # among the roles of a host where somebody can be asked at any time
How = Literal["safely", "now"]


@record
class Host:
    id: HostId
    machine: str
    process: str
    roles: tuple[str, ...]
    url: str | None
    started_at: datetime
    lease_until: datetime
    stopped_at: datetime | None


@record
class NewHost:
    """Where a host runs, and what it does there."""

    machine: str
    process: str
    roles: tuple[str, ...]
    url: str | None = None


def register(tx: Tx, new: NewHost) -> HostId:
    id = HostId(tx.new_id("ho"))
    tx.run(
        sql.add,
        id=id,
        machine=new.machine,
        process=new.process,
        roles=json.dumps(new.roles),
        url=new.url,
        now=tx.now,
        lease_until=tx.now + LEASE,
    )
    return id


def renew(tx: Tx, id: HostId) -> None:
    """Still here, even if somebody has declared this host dead meanwhile: its fences are stale, it is not."""
    tx.run(sql.renew, id=id, lease_until=tx.now + LEASE)


def stop(tx: Tx, id: HostId) -> None:
    tx.run(sql.stop, id=id, now=tx.now)


def ask_stop(tx: Tx, how: How) -> int:
    """Have every host that runs agents end: after the attempts that run now, or at once."""
    asked = tx.run(sql.ask_stop, how=how, now=tx.now)
    tx.wake()
    return asked


def stop_asked(tx: ReadTx, id: HostId) -> How | None:
    found = tx.maybe(sql.stop_asked, str, id=id)
    return None if found is None else "now" if found == "now" else "safely"


def alive(tx: ReadTx) -> list[Host]:
    """Hosts that said so recently enough."""
    return tx.all(sql.alive, Host, now=tx.now)


def expire(tx: Tx) -> int:
    """Close the hosts whose lease has run out."""
    return tx.run(sql.expire, now=tx.now)
