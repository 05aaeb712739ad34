"""Visits: browsers that have come in by a link. Links and visits are tokens of kinds that open nothing else."""

from datetime import datetime, timedelta
from typing import Literal

from moot.core.ids import InstanceName, TokenId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import tokens
from moot.registry.errors import LinkSpent
from moot.registry.tokens import Grant
from moot.store import queries

sql = queries.beside(__file__)
LINK_LASTS = timedelta(minutes=15)
SHARED_LINK_LASTS = timedelta(days=1)
VISIT_LASTS = timedelta(days=7)
VisitRole = Literal["operator", "observer"]


@record
class Visit:
    """A browser, what its person may do, and where it begins to look."""

    id: TokenId
    role: VisitRole
    instance: InstanceName
    expires_at: datetime

    @property
    def may_change(self) -> bool:
        return self.role == "operator"


def invite(tx: Tx, link: str, role: VisitRole, instance: InstanceName) -> TokenId:
    """A link for the person is good for one visit, one for those who only watch is good for many."""
    if role == "operator":
        return tokens.mint(tx, link, Grant("link", instance, role, lasts=LINK_LASTS))
    return tokens.mint(tx, link, Grant("shared_link", instance, role, lasts=SHARED_LINK_LASTS))


def begin(tx: Tx, link: str, secret: str) -> Visit:
    """Come in by a link; LinkSpent, if it was used or its time is up. The secret proves the visit from now on."""
    values = {"hash": tokens.hash_of(link), "now": tx.now}
    found = tx.maybe(sql.take_link, Visit, **values) or tx.maybe(sql.shared_link, Visit, **values)
    if found is None:
        raise LinkSpent("This link was used before, or its time is up.", "Get a new one with: moot ui")
    id = tokens.mint(tx, secret, Grant("visit", found.instance, found.role, lasts=VISIT_LASTS))
    return Visit(id, found.role, found.instance, tx.now + VISIT_LASTS)


def find(tx: ReadTx, secret: str) -> Visit | None:
    """None, if it is over or never was."""
    return tx.maybe(sql.find, Visit, hash=tokens.hash_of(secret), now=tx.now)


def end(tx: Tx, visit: Visit) -> None:
    tokens.revoke(tx, visit.id)


def end_all(tx: Tx) -> int:
    """Nobody comes in any more by what was given out so far."""
    return tx.run(sql.end_all, now=tx.now)
