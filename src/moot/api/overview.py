"""What a person sees first of an instance, on the page and in the terminal: who works on what, what it costs, and what
was said last. What needs them is beside it."""

from datetime import datetime

from moot.api import status
from moot.api.status import Status
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.ledger import budgets, usage
from moot.ledger.budgets import Share
from moot.ledger.usage import Usage
from moot.registry.instances import Instance


@record
class Overview:
    at: datetime
    status: Status
    budget: tuple[Share, ...]  # of the last run
    used: Usage  # in it, or outside of runs if there is none


def of(tx: ReadTx, instance: Instance, place: str) -> Overview:
    """`place`: where whoever looks is."""
    seen = status.of_instance(tx, instance, place)
    return Overview(
        tx.now,
        seen,
        tuple(budgets.shares(tx, seen.run.id)) if seen.run else (),
        usage.total(tx, seen.run.id if seen.run else instance.stream),
    )
