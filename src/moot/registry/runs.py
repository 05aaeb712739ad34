"""Runs: the executions of a workflow under an instance's name, one at a time.

A run is a part of its instance's stream. It goes through phases (setup, perhaps an election, talk, perhaps tasks and
steps) and ends in a state with a reason; each is entered by whoever comes first and finds the run in the one before.
All changes are made under the lock of the instance.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

from moot.core import json
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import HostId, InstanceName, RunId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import hosts
from moot.registry.hosts import How
from moot.registry.instances import Instance
from moot.store import queries

sql = queries.beside(__file__)
# Whether it ends by itself; what is taped or bound does, and is worked on by the host that attends it alone.
Mode = Literal["run", "start", "taped", "bound"]
State = Literal["live", "interrupted", "done", "failed", "limit", "stopped"]
Phase = Literal["setup", "election", "talk", "tasks", "steps"]
_ORDER: tuple[Phase, ...] = get_args(Phase)
STARTED, RESUMED, PAUSED, STOP_ASKED, ENDED = "run_started", "run_resumed", "run_paused", "run_stop_asked", "run_ended"


class InstanceBusy(MootError):
    """A run of this instance is going on."""

    code = "INSTANCE_BUSY"


class RunNotFound(MootError):
    code = "RUN_NOT_FOUND"


@record
class Run:
    id: RunId
    instance: InstanceName
    stream: StreamId
    name: str
    source: str
    mode: Mode
    state: State
    phase: Phase
    definition: Mapping[str, Json]
    given: Mapping[str, Json]  # the values of variables that are known at the start
    outputs: tuple[str, ...]  # of setup's commands so far
    attended_by: HostId | None
    stop_asked: How | None
    is_paused: bool
    first_seq: int
    last_seq: int | None
    reason: str
    started_at: datetime
    ended_at: datetime | None


@record
class NewRun:
    name: str
    source: str
    mode: Mode
    definition: Mapping[str, Json]
    given: Mapping[str, Json]
    host: HostId  # attends it


def start(tx: Tx, instance: Instance, new: NewRun) -> Run:
    """Begin; InstanceBusy while somebody attends another run here. One that nobody attends is over then."""
    tx.lock("instances", instance.name)
    before = live(tx, instance.name)
    if before is not None:
        if is_attended(tx, before):
            raise _busy(before)
        end(tx, before, "interrupted", "nobody attended it any more")
    tx.run(sql.supersede, instance=instance.name, reason="another run was started")
    id = RunId(tx.new_id("wf"))
    seq = tx.emit(Event(instance.stream, STARTED, id, {"name": new.name, "source": new.source, "mode": new.mode})).seq
    tx.run(
        sql.add,
        id=id,
        instance=instance.name,
        stream=instance.stream,
        name=new.name,
        source=new.source,
        mode=new.mode,
        definition=json.dumps(new.definition),
        given=json.dumps(new.given),
        host=new.host,
        first_seq=seq,
        now=tx.now,
    )
    return get(tx, id)


def resume(tx: Tx, instance: InstanceName, host: HostId) -> Run:
    """Attend the last run of an instance, unless it is done or somebody attends it."""
    tx.lock("instances", instance)
    found = latest(tx, instance)
    if found is None or found.state == "done":
        raise RunNotFound(f"There is nothing to resume in {instance}.", "Start a run with moot run FILE.")
    if found.state == "live" and is_attended(tx, found):
        raise _busy(found)
    tx.run(sql.attend, id=found.id, host=host)
    tx.announce(Event(found.stream, RESUMED, found.id))
    return get(tx, found.id)


def enter(tx: Tx, run: Run, phase: Phase) -> bool:
    """Go on to a later phase; False if that is done, if somebody else does it, or if the run is over."""
    tx.lock("instances", run.instance)
    is_later = _ORDER.index(phase) > _ORDER.index(run.phase)
    return is_later and bool(tx.run(sql.enter, id=run.id, before=run.phase, phase=phase))


def keep(tx: Tx, run: Run, outputs: Sequence[str]) -> None:
    """What setup's commands have printed so far, each once."""
    tx.run(sql.keep, id=run.id, outputs=json.dumps(list(outputs)))


def ask_stop(tx: Tx, run: Run, how: How) -> None:
    """Have whoever attends it end it: after the attempts that run now, or at once."""
    tx.lock("instances", run.instance)
    if tx.run(sql.ask_stop, id=run.id, how=how):
        tx.announce(Event(run.stream, STOP_ASKED, run.id, {"how": how}, is_quiet=True))


def pause(tx: Tx, run: Run, *, is_paused: bool) -> bool:
    """Wake nobody until it goes on; False if that changes nothing."""
    tx.lock("instances", run.instance)
    changed = bool(tx.run(sql.pause, id=run.id, is_paused=is_paused))
    if changed:
        tx.announce(Event(run.stream, PAUSED, run.id, {"is_paused": is_paused}))
    return changed


def end(tx: Tx, run: Run, state: State, reason: str = "") -> bool:
    """Over; False if it was before."""
    tx.lock("instances", run.instance)
    found = get(tx, run.id)
    if found.state != "live":
        return False
    seq = tx.emit(Event(run.stream, ENDED, run.id, {"state": state, "reason": reason}, is_quiet=True)).seq
    return bool(tx.run(sql.end, id=run.id, state=state, reason=reason, last_seq=seq, now=tx.now))


def is_attended(tx: ReadTx, run: Run) -> bool:
    """Whether the process that is to end it is alive."""
    return any(host.id == run.attended_by for host in hosts.alive(tx))


def live(tx: ReadTx, instance: InstanceName) -> Run | None:
    return tx.maybe(sql.live, Run, instance=instance)


def goes_on(tx: ReadTx, id: RunId) -> bool:
    """Whether it is live, and nobody has paused it or asked it to stop. True also where there is no such run."""
    return tx.maybe(sql.held_up, int, id=id) is None


def live_id(tx: ReadTx, instance: InstanceName) -> RunId | None:
    """For those who ask at every message: the run itself may be large."""
    found = tx.maybe(sql.live_id, str, instance=instance)
    return None if found is None else RunId(found)


def held_elsewhere(tx: ReadTx, host: HostId) -> frozenset[StreamId]:
    """Where another host alone does what there is to do: it plays or records it, or has the functions for it."""
    return frozenset(StreamId(one) for one in tx.all(sql.held_elsewhere, str, host=host))


def all_live(tx: ReadTx) -> list[Run]:
    return tx.all(sql.all_live, Run)


def unfinished(tx: ReadTx) -> list[Run]:
    """The last run of each instance, where it is not done; the newest first."""
    return tx.all(sql.unfinished, Run)


def answered(tx: ReadTx) -> frozenset[str]:
    """The instances of questions that were answered, in which nothing goes on any more."""
    return frozenset(tx.all(sql.answered, str))


def latest(tx: ReadTx, instance: InstanceName) -> Run | None:
    return tx.maybe(sql.latest, Run, instance=instance)


def find(tx: ReadTx, id: RunId) -> Run | None:
    return tx.maybe(sql.get, Run, id=id)


def get(tx: ReadTx, id: RunId) -> Run:
    found = find(tx, id)
    if found is None:
        raise RunNotFound(f"There is no run {id[:80]!r}.", "See moot status.")
    return found


def _busy(run: Run) -> InstanceBusy:
    return InstanceBusy(
        f"A run of {run.name} is going on in {run.instance}.",
        f"Wait for it, end it with moot stop @{run.instance}, or take another name (--instance; of a team --name).",
    )


def ids(tx: ReadTx, instance: InstanceName) -> list[RunId]:
    """Every run that an instance has had."""
    return [RunId(id) for id in tx.all(sql.ids, str, instance=instance)]
