"""Something has ended that a step may wait for: a vote, a request, a task. Then the step is told what became of it."""

from moot.core.events import StoredEvent
from moot.core.tx import Tx
from moot.engine.flow import strands
from moot.runner.flows import placing
from moot.tools import advancing


def tell_flows(tx: Tx, event: StoredEvent) -> None:
    for strand in strands.waiting_on(tx, event.subject):
        ended = placing.ended_as(tx, event.subject)
        if ended is not None:
            advancing.tell(tx, strand, placing.heard(strand, ended))
