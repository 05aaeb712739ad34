"""The job that advances a flow, for all who have something for it: one at a time, and at once."""

from collections.abc import Mapping

from moot.bus import mailbox, messages
from moot.core.ids import FlowId, MessageId, RequestId, StreamId
from moot.core.json import Json
from moot.core.tx import Tx
from moot.engine.flow import flows, inbox, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Kind
from moot.engine.flow.strands import MAIN, Strand
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import instances
from moot.requests import requests
from moot.tools import asking

ADVANCE = "advance"


def key(flow: FlowId) -> str:
    return f"{ADVANCE}:{flow}"


def advance(tx: Tx, flow: FlowId, stream: StreamId) -> None:
    """Have somebody look at it now, even if it was to wait for a time."""
    jobs.add(tx, NewJob(key(flow), ADVANCE, stream, flow))
    jobs.hurry(tx, key(flow))


def submit(tx: Tx, flow: Flow, kind: Kind, body: Mapping[str, Json], strand: int = MAIN) -> str:
    """For whoever advances the flow, who looks once more before it stops to do so."""
    id = inbox.submit(tx, flow.id, kind, body, strand)
    if jobs.is_under_way(tx, key(flow.id)):
        tx.wake()
    else:
        advance(tx, flow.id, flow.stream)
    return id


def withdraw(tx: Tx, flow: Flow, strand: Strand) -> None:
    """Nobody needs the answer any more to what was asked for a strand, unless another waits for it, too. Mail that was
    answered has been read, and stays so."""
    asked = strand.waits_on or ""
    is_own = strand.work is not None and strand.work.type != "wait"
    if not is_own or not asked.startswith(("rq_", "ms_")) or strands.waiting_on(tx, asked):
        return
    if asked.startswith("ms_"):
        mailbox.bury_message(tx, flow.stream, messages.get(tx, MessageId(asked), flow.stream).seq)
    elif requests.get(tx, RequestId(asked)).is_open:
        asking.cancel(tx, instances.get(tx, flow.instance), RequestId(asked), None, is_operator=False)


def tell(tx: Tx, strand: Strand, body: Mapping[str, Json]) -> None:
    """What a strand waits for has come."""
    flow = flows.find(tx, strand.flow)
    if flow is not None and flow.is_live:
        asked: dict[str, Json] = {"step_id": strand.step_id, "since": strand.since, "tries": strand.tries}
        submit(tx, flow, "outcome", {**asked, **body}, strand.number)
