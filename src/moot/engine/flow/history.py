"""What a flow has done: its steps, what was computed on the way, and checkpoints to look at later."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal

from moot.core import json
from moot.core.ids import CheckpointId, FlowId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.engine import scope
from moot.engine.state.reactive import Trace
from moot.store import queries

sql = queries.beside(__file__)
StepStatus = Literal["success", "failed", "skipped"]
Doer = Literal["moot", "agent", "person"]
_MOST_TRACE = 2000  # characters of an input or output
_KEPT_VERSIONS = 1000  # of a flow, of which it is known what was computed


@record
class Taken:
    """A step that was taken, about to be noted."""

    strand: int
    step_id: str
    type: str
    doer: Doer = "moot"
    status: StepStatus = "success"
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])
    error: str = ""
    started_at: datetime | None = None  # None: now


@record
class StepRow:
    number: int
    strand: int
    step_id: str
    type: str
    doer: Doer
    status: StepStatus
    detail: Mapping[str, Json]
    error: str
    started_at: datetime
    ended_at: datetime


@record
class TraceRow:
    field: str
    trigger_key: str
    input: str
    output: str | None
    error: str
    micros: int
    at: datetime
    version: int


@record
class Checkpoint:
    id: CheckpointId
    flow: FlowId
    step_id: str
    reason: str
    version: int
    state: Mapping[str, Json]
    at: datetime


@record
class Slowest:
    field: str
    count: int
    micros: float


def note(tx: Tx, flow: FlowId, after: int, taken: Sequence[Taken]) -> None:
    """Behind the step of this number."""
    now = tx.micros
    for at, one in enumerate(taken, after + 1):
        tx.put(
            sql.note,
            flow=flow,
            number=at,
            strand=one.strand,
            step_id=one.step_id,
            type=one.type,
            doer=one.doer,
            status=one.status,
            detail=json.dumps(one.detail) if one.detail else "{}",
            error=one.error,
            started_at=one.started_at or now,
            ended_at=now,
        )


def trace(tx: Tx, flow: FlowId, version: int, traces: Sequence[Trace], known: Mapping[str, str | None]) -> None:
    """What was computed, with the beginning of what from and what came of it; `known` is the state behind it. A field
    of an included workflow is called after the step: `checks.total`."""
    rows = [
        {
            "flow": flow,
            "version": version,
            "place": place,
            "field": scope.place_of(one.inside) + one.field,
            "trigger_key": one.trigger,
            "input": (known.get(one.inside + one.trigger) or "")[:_MOST_TRACE],
            "output": (known.get(f"{one.inside}computed.{one.field}") or "")[:_MOST_TRACE] or None,
            "error": one.error,
            "micros": round(one.millis * 1000),
            "now": tx.now,
        }
        for place, one in enumerate(traces)
    ]
    tx.many(sql.trace, rows)


def prune(tx: Tx, flow: FlowId, version: int) -> None:
    """What was computed long before this version."""
    tx.put(sql.prune, flow=flow, before=version - _KEPT_VERSIONS)


def steps(tx: ReadTx, flow: FlowId, *, strand: int | None = None, after: int = 0, limit: int = 100) -> list[StepRow]:
    """In their order, behind a number."""
    return tx.all(sql.steps, StepRow, flow=flow, strand=-1 if strand is None else strand, after=after, limit=limit)


def executed(tx: ReadTx, flow: FlowId, strand: int, after: int, limit: int) -> list[StepRow]:
    """What moot has done on a strand behind a number: the last of it, in its order."""
    return list(reversed(tx.all(sql.executed, StepRow, flow=flow, strand=strand, after=after, limit=limit)))


def last_steps(tx: ReadTx, flow: FlowId, limit: int = 100) -> list[StepRow]:
    return list(reversed(tx.all(sql.last_steps, StepRow, flow=flow, limit=limit)))


def last_of_agent(tx: ReadTx, flow: FlowId, strand: int, step_id: str) -> StepRow | None:
    """The last time that an agent has done a step."""
    return tx.maybe(sql.last_of_agent, StepRow, flow=flow, strand=strand, step_id=step_id)


def traces(tx: ReadTx, flow: FlowId, of: str | None = None, limit: int = 100) -> list[TraceRow]:
    """The newest last."""
    return list(reversed(tx.all(sql.traces, TraceRow, flow=flow, field=of or "", limit=limit)))


def slowest(tx: ReadTx, flow: FlowId, limit: int = 10) -> list[Slowest]:
    return tx.all(sql.slowest, Slowest, flow=flow, limit=limit)


def count_traces(tx: ReadTx, flow: FlowId) -> tuple[int, float]:
    """How many there are, and their mean in microseconds."""
    found = tx.one(sql.count_traces, Slowest, flow=flow)
    return found.count, found.micros


def keep(tx: Tx, flow: FlowId, step_id: str, reason: str, version: int, state: Mapping[str, Json]) -> CheckpointId:
    id = CheckpointId(tx.new_id("ck"))
    tx.run(
        sql.keep, id=id, flow=flow, step_id=step_id, reason=reason, version=version, state=json.dumps(state), now=tx.now
    )
    return id


def checkpoints(tx: ReadTx, flow: FlowId) -> list[Checkpoint]:
    return tx.all(sql.checkpoints, Checkpoint, flow=flow)
