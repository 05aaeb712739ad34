"""Flows: definitions that are being carried out, with their state. `strands` says where they are.

Only whoever holds the job of advancing a flow changes it, and computes outside of any transaction. So every commit
names the version that it was computed from, and is refused if that is no longer the newest.
"""

from collections.abc import Mapping
from dataclasses import field as made
from datetime import datetime
from typing import Literal, cast

from moot.core import json
from moot.core.caller import Role
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import AgentId, FlowId, InstanceName, StreamId
from moot.core.json import Json
from moot.core.library import Files
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import strands
from moot.engine.flow.strands import Strand
from moot.engine.scope import INPUTS
from moot.store import queries

sql = queries.beside(__file__)
Driver = Literal[
    "moot", "agent"
]  # who does what moot cannot do by itself: agents that it asks, or the one that asks it
Status = Literal["starting", "in_progress", "completed", "failed", "abandoned"]
WaitsFor = Literal["", "agent", "person", "subject", "time", "credit"]  # "": nothing, it moves
LIVE: tuple[Status, ...] = ("starting", "in_progress")
STARTED, STEPPED, ENDED = "flow_started", "flow_stepped", "flow_ended"


class FlowNotFound(MootError):
    code = "WORKFLOW_NOT_FOUND"


class FlowOver(MootError):
    """It is done, has failed, or was given up."""

    code = "INVALID_TRANSITION"


@record
class Flow:
    id: FlowId
    instance: InstanceName
    stream: StreamId
    name: str
    source: str
    given: Mapping[str, Json]  # its inputs
    own: Mapping[str, Json]  # further names that its expressions know
    driver: Driver
    holder: AgentId | None  # who started it, on whose behalf it calls tools
    role: Role
    tool_groups: tuple[str, ...] | None  # that it may use; None: all of its role
    status: Status
    waits_for: WaitsFor
    version: int
    last_step: int
    credits: int | None  # how many steps it may still take, where a person looks at each
    retries: int
    result: str | None  # JSON text
    error: str
    started_at: datetime
    updated_at: datetime
    ended_at: datetime | None

    @property
    def is_live(self) -> bool:
        return self.status in LIVE


@record
class NewFlow:
    instance: InstanceName
    stream: StreamId
    name: str
    source: str
    files: Files
    given: Mapping[str, Json]
    driver: Driver
    own: Mapping[str, Json] = made(default_factory=dict[str, Json])
    holder: AgentId | None = None
    role: Role = "operator"
    tool_groups: tuple[str, ...] | None = None
    credits: int | None = None
    id: FlowId | None = None  # None: a new one


@record
class Field:
    """`version` is that of the flow when it was written last."""

    key: str
    value: str
    version: int


def create(tx: Tx, new: NewFlow) -> Flow:
    id = new.id or FlowId(tx.new_id("wf"))
    tx.run(
        sql.add,
        id=id,
        instance=new.instance,
        stream=new.stream,
        name=new.name,
        source=new.source,
        given=json.dumps(new.given),
        own=json.dumps({**new.own, "workflow_id": id}),
        driver=new.driver,
        holder=new.holder,
        role=new.role,
        tool_groups=None if new.tool_groups is None else json.dumps(new.tool_groups),
        credits=new.credits,
        now=tx.now,
    )
    tx.put(sql.add_files, flow=id, files=json.dumps(new.files))
    strands.put(tx, Strand(id, holder=new.holder))
    tx.announce(Event(new.stream, STARTED, id, {"name": new.name}, is_quiet=True))
    return get(tx, id)


def get(tx: ReadTx, id: FlowId, instance: InstanceName | None = None) -> Flow:
    """FlowNotFound if there is none, or none in this instance."""
    found = find(tx, id)
    if found is None or instance not in (None, found.instance):
        raise FlowNotFound(f"There is no workflow {id[:80]!r} with steps here.", "See workflow_list, or moot flow ls.")
    return found


def find(tx: ReadTx, id: FlowId) -> Flow | None:
    return tx.maybe(sql.get, Flow, id=id)


def version(tx: ReadTx, id: FlowId) -> int:
    return tx.one(sql.version, int, id=id)


def files(tx: ReadTx, id: FlowId) -> Files:
    found = cast(list[list[str]], json.loads(tx.one(sql.files, str, id=id)))
    return tuple((name, text) for name, text in found)


def all_of(tx: ReadTx, instance: InstanceName, limit: int = 100) -> list[Flow]:
    """The newest first."""
    return tx.all(sql.all_of, Flow, instance=instance, limit=limit)


def live(tx: ReadTx, stream: StreamId) -> list[Flow]:
    return tx.all(sql.live, Flow, stream=stream)


def step(tx: Tx, flow: Flow, taken: int, main: Strand) -> bool:
    """One version further, with so many steps taken, and the first strand there; False if somebody else has changed it
    since."""
    return bool(
        tx.run(
            sql.step,
            id=flow.id,
            version=flow.version,
            last_step=flow.last_step + taken,
            frames=strands.written(main.frames),
            tries=main.tries,
            now=tx.micros,
        )
    )


def turn(tx: Tx, flow: Flow) -> None:
    """What else is to be known of it after a step."""
    tx.put(
        sql.turn,
        id=flow.id,
        status=flow.status,
        credits=flow.credits,
        retries=flow.retries,
        result=flow.result,
        error=flow.error,
        ended_at=None if flow.is_live else flow.ended_at or tx.now,
    )


def has_begun(tx: ReadTx, id: FlowId) -> bool:
    """Whether it has a state; else it has not come to its first step."""
    return field(tx, id, INPUTS) is not None


def write_fields(tx: Tx, id: FlowId, version: int, changed: Mapping[str, str | None]) -> None:
    """New texts, each with the version that it came with; None where a field is gone."""
    for key, text in changed.items():
        if text is None:
            tx.put(sql.drop_field, flow=id, key=key)
        else:
            tx.put(sql.set_field, flow=id, key=key, value=text, version=version)


def clear(tx: Tx, id: FlowId) -> None:
    """Nothing is known any more."""
    tx.put(sql.clear, flow=id)


def fields(tx: ReadTx, id: FlowId) -> dict[str, str]:
    return {one.key: one.value for one in tx.all(sql.fields, Field, flow=id)}


def field(tx: ReadTx, id: FlowId, key: str) -> Field | None:
    return tx.maybe(sql.field, Field, flow=id, key=key)


def end(tx: Tx, flow: Flow, status: Literal["completed", "failed", "abandoned"], error: str = "") -> bool:
    """Over, whatever it was doing; False if it was before."""
    if not tx.run(sql.end, id=flow.id, status=status, error=error, now=tx.now):
        return False
    tx.announce(Event(flow.stream, ENDED, flow.id, {"status": status, "error": error}))
    return True


def mark(tx: Tx, flow: Flow, waits_for: WaitsFor) -> None:
    """What it waits for, for those who ask whether anything goes on here."""
    tx.put(sql.wait, id=flow.id, waits_for=waits_for)


def reopen(
    tx: Tx, flow: Flow, status: Literal["starting", "in_progress"] = "in_progress", *, resets_retries: bool = False
) -> bool:
    """To go on with what had failed; False if it has not."""
    retries = 0 if resets_retries else flow.retries
    return bool(tx.run(sql.reopen, id=flow.id, status=status, retries=retries, now=tx.now))


def take_over(tx: Tx, id: FlowId) -> None:
    """Somebody advances it from now on: what whoever did so before has computed is refused."""
    tx.run(sql.take_over, id=id)


def hand_over(tx: Tx, flow: Flow, holder: AgentId) -> None:
    """Another agent drives it from now on."""
    tx.run(sql.hand_over, id=flow.id, holder=holder, now=tx.now)
    strands.rebind(tx, flow.id, holder)


def allow(tx: Tx, flow: Flow, steps: int | None) -> None:
    """Let it take so many steps and stop then; None lets it go on."""
    tx.run(sql.allow, id=flow.id, credits=steps, now=tx.now)
    tx.wake()


def forget(tx: Tx, instance: InstanceName) -> None:
    for one in (
        sql.forget_files,
        sql.forget_fields,
        sql.forget_strands,
        sql.forget_steps,
        sql.forget_inbox,
        sql.forget_traces,
        sql.forget_checkpoints,
        sql.forget,
    ):
        tx.run(one, instance=instance)
