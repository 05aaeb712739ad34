"""Strands: the lines along which a flow goes on. The first is that of the file's own steps; each other is what one
sub-agent does, beside the rest, over the state that all share.

Where the first is changes with nearly every step, and often nothing else of it. So its place is kept in the row of the
flow, which every step writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from datetime import datetime
from operator import attrgetter
from typing import Literal, cast

from moot.core import json
from moot.core.ids import AgentId, FlowId
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx, Value
from moot.engine import frames as positions
from moot.engine.frames import Frames
from moot.engine.step import Work
from moot.store import queries

sql = queries.beside(__file__)
MAIN = 0
# ready: nobody has begun it. moving: it can go on at once. given: its work is known, and nobody has it yet.
# pending: an agent has it in hand. doing: moot is at it, outside the store. waiting: for an answer, or for a time.
# forked: for the strands of its tasks.
Status = Literal["ready", "moving", "given", "pending", "doing", "waiting", "forked", "done", "failed"]
TASKS = "parallel_tasks"  # the type of work for which strands of their own go on
OVER: frozenset[Status] = frozenset(("done", "failed"))


@record
class Strand:
    flow: FlowId
    number: int = MAIN
    parent: int | None = None
    fork: int = 0  # which of its parent's forks it is of: the version of the flow at that moment
    task_id: str = ""
    frames: Frames = positions.START
    tries: int = 0  # how often the work of this step was done
    status: Status = "moving"
    holder: AgentId | None = None  # who alone may go on with it
    own: Mapping[str, Json] = field(default_factory=dict[str, Json])  # names that it knows beside the state
    step_id: str = ""  # of the work that is to be done
    work: Work | None = None
    since: int = 0  # the version of the flow at which the work was given out
    given_at: datetime | None = None  # when that was
    is_applied: bool = False  # the updates that are its work were made already
    waits_on: str | None = None  # whose end it waits for: a message, a request, a vote, a task; or where it is done
    wakes_at: datetime | None = None
    seen_step: int = 0  # the last of its steps that whoever drives it was told of
    retries: int = 0  # how often it began anew
    error: str = ""  # why it fails, while it still cleans up, and afterwards

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def is_detached(self) -> bool:
        """It waits for tasks in place of one that has gone on, and does nothing else."""
        return self.parent is not None and not self.task_id


_but_its_place = attrgetter(*(one.name for one in fields(Strand) if one.name not in ("frames", "tries")))


@record
class _Row:
    number: int
    parent: int | None
    fork: int
    task_id: str
    frames: str
    tries: int
    status: Status
    holder: str | None
    own: str
    step_id: str
    work: str | None
    since: int
    given_at: datetime | None
    is_applied: bool
    waits_on: str | None
    wakes_at: datetime | None
    seen_step: int
    retries: int
    error: str
    flow: str


@record
class _Held:
    number: int
    holder: str


def put(tx: Tx, strand: Strand) -> None:
    """As it is now, new or not; nobody else can change the flow meanwhile. Whose it is, `bind` says alone, until it
    begins anew."""
    tx.put(sql.put, **_values(strand))
    if strand.number == MAIN:
        tx.put(sql.place, flow=strand.flow, frames=written(strand.frames), tries=strand.tries)


def change(tx: Tx, before: Strand, strand: Strand) -> None:
    """With a step of the flow, by which is known where the first is. Where one that was known has only gone on, nothing
    else is written."""
    if _but_its_place(before) != _but_its_place(strand):
        tx.put(sql.put, **_values(strand))
    elif strand.number != MAIN:
        tx.put(sql.move, flow=strand.flow, number=strand.number, frames=written(strand.frames), tries=strand.tries)


def add(tx: Tx, new: Sequence[Strand]) -> None:
    """With a step of the flow, those that nobody knows yet."""
    tx.many(sql.put, map(_values, new))


def written(frames: Frames) -> str:
    """As it is kept."""
    return json.dumps(positions.to_json(frames))


def of_flow(tx: ReadTx, flow: FlowId) -> dict[int, Strand]:
    """Those that count now: what is not over, the first, and all of the tasks that one waits for."""
    return {one.number: _read(one) for one in tx.all(sql.of_flow, _Row, flow=flow)}


def held(tx: ReadTx, flow: FlowId) -> dict[int, AgentId]:
    """Of the same, whose each is that is somebody's."""
    return {one.number: AgentId(one.holder) for one in tx.all(sql.held, _Held, flow=flow)}


def pending(tx: ReadTx, flow: FlowId) -> list[Strand]:
    """Those whose work an agent has in hand."""
    return [_read(one) for one in tx.all(sql.pending, _Row, flow=flow)]


def get(tx: ReadTx, flow: FlowId, number: int = MAIN) -> Strand:
    return _read(tx.one(sql.get, _Row, flow=flow, number=number))


def by_task(tx: ReadTx, flow: FlowId, task_id: str) -> Strand | None:
    """The newest that has this task."""
    found = tx.maybe(sql.by_task, _Row, flow=flow, task_id=task_id)
    return None if found is None else _read(found)


def waiting_on(tx: ReadTx, subject: str) -> list[Strand]:
    return [_read(one) for one in tx.all(sql.waiting_on, _Row, subject=subject)]


def all_of(tx: ReadTx, flow: FlowId) -> list[Strand]:
    return [_read(one) for one in tx.all(sql.all_of, _Row, flow=flow)]


def next_number(tx: ReadTx, flow: FlowId) -> int:
    return tx.one(sql.newest, int, flow=flow) + 1


def bind(tx: Tx, strand: Strand, holder: AgentId) -> bool:
    """Whoever comes first has it; False if that is somebody else."""
    return bool(tx.run(sql.bind, flow=strand.flow, number=strand.number, holder=holder))


def rebind(tx: Tx, flow: FlowId, holder: AgentId) -> None:
    """Another drives the flow: the first strand is its own, the others are anybody's who comes for them."""
    tx.run(sql.rebind, flow=flow, holder=holder)


def drop(tx: Tx, flow: FlowId) -> None:
    """All but the first: the flow begins anew."""
    tx.put(sql.drop, flow=flow)


def moved(strand: Strand, frames: Frames, tries: int = 0) -> Strand:
    """At another place, with nothing in hand."""
    if strand.status == "moving":  # which has nothing
        return replace(strand, frames=frames, tries=tries)
    return replace(
        strand,
        frames=frames,
        tries=tries,
        status="moving",
        step_id="",
        work=None,
        given_at=None,
        is_applied=False,
        waits_on=None,
        wakes_at=None,
    )


def _values(strand: Strand) -> dict[str, Value]:
    return {
        "flow": strand.flow,
        "number": strand.number,
        "parent": strand.parent,
        "fork": strand.fork,
        "task_id": strand.task_id,
        "frames": "" if strand.number == MAIN else written(strand.frames),
        "tries": 0 if strand.number == MAIN else strand.tries,
        "status": strand.status,
        "holder": strand.holder,
        "own": json.dumps(strand.own),
        "step_id": strand.step_id,
        "work": None if strand.work is None else json.dumps(work_to_json(strand.work)),
        "since": strand.since,
        "given_at": strand.given_at,
        "is_applied": strand.is_applied,
        "waits_on": strand.waits_on,
        "wakes_at": strand.wakes_at,
        "seen_step": strand.seen_step,
        "retries": strand.retries,
        "error": strand.error,
    }


def work_to_json(work: Work) -> dict[str, Json]:
    return {
        "type": work.type,
        "instructions": work.instructions,
        "definition": work.definition,
        "replacements": work.replacements,
        "original": work.original,
        "inside": work.inside,
        "refused": work.refused,
        **({} if work.then is None else {"then": work.then}),  # a null would have all of it looked through for NaN
    }


def work_from_json(said: Mapping[str, Json]) -> Work:
    return Work(
        str(said["type"]),
        str(said["instructions"]),
        cast(Mapping[str, Json], said["definition"]),
        cast(Mapping[str, Json], said["replacements"]),
        str(said["original"]),
        said.get("then"),
        str(said["inside"]),
        str(said.get("refused", "")),
    )


def _read(row: _Row) -> Strand:
    return Strand(
        FlowId(row.flow),
        row.number,
        row.parent,
        row.fork,
        row.task_id,
        positions.from_json(json.loads(row.frames)),
        row.tries,
        row.status,
        None if row.holder is None else AgentId(row.holder),
        cast(Mapping[str, Json], json.loads(row.own)),
        row.step_id,
        None if row.work is None else work_from_json(json.load_object(row.work)),
        row.since,
        row.given_at,
        row.is_applied,
        row.waits_on,
        row.wakes_at,
        row.seen_step,
        row.retries,
        row.error,
    )
