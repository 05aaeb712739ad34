"""Something has ended that a step may wait for: a vote, a request, a task. Then the step is told what became of it."""

from moot.core.events import StoredEvent
from moot.core.tx import Tx
from moot.engine.flow import inbox, strands
from moot.engine.flow.strands import Strand
from moot.runner.flows import placing
from moot.tools import advancing


def tell_flows(tx: Tx, event: StoredEvent) -> None:
    found = strands.waiting_on(tx, event.subject)
    ended = placing.ended_as(tx, event.subject) if found else None
    if ended is None:
        return
    for flow in dict.fromkeys(one.flow for one in found):
        tx.lock("flows", flow)  # or whoever advances it could take in what it was told before, unseen
    for strand in strands.waiting_on(tx, event.subject):
        if not _is_told(tx, strand):
            advancing.tell(tx, strand, placing.heard(strand, ended))


def _is_told(tx: Tx, strand: Strand) -> bool:
    """Who came to wait when it had ended was told there and then; and once it has ended, each of the events that led
    there seems to be its end."""
    told = (one for one in inbox.waiting(tx, strand.flow) if (one.kind, one.strand) == ("outcome", strand.number))
    return any((one.body.get("since"), one.body.get("tries")) == (strand.since, strand.tries) for one in told)
