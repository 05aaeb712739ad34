"""Working on tasks: who may change one, and what a change of its state means."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from moot.board import claims, progress, states, tasks
from moot.board.boards import Board
from moot.board.claims import Holder, Refused, Taken
from moot.board.errors import InvalidTransition
from moot.board.progress import Result
from moot.board.states import HELD, TaskStatus
from moot.board.tasks import Task
from moot.core.caller import Caller
from moot.core.ids import AgentId, StreamId, TaskId
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, tokens
from moot.registry.agents import Agent
from moot.tools import acting, lapsing, teamwork, verifying

_LOOKED_THROUGH = 1000  # ready tasks, for those that fit somebody


def claim(tx: Tx, caller: Caller, agent: Agent, id: TaskId, stream: StreamId) -> Taken | Refused:
    """Take a task; one whose holder can never call again is free at once."""
    holder = Holder(agent.id, agent.name, acting.hand(caller))
    lease = lease_of(caller, agent)
    found = _claim(tx, id, holder, stream, lease)
    if not isinstance(found, Refused) or found.hand is None or not tokens.is_spent(tx, found.hand):
        return found
    task = tasks.locked(tx, id, stream)
    if task.hand != found.hand or task.lease_until is None:  # who holds without a lease goes on in its next attempt
        return found
    claims.release(tx, task, "its holder is gone")
    return _claim(tx, id, holder, stream, lease)


def _claim(tx: Tx, id: TaskId, holder: Holder, stream: StreamId, lease: timedelta | None) -> Taken | Refused:
    found = claims.claim(tx, id, holder, stream, lease)
    if lease is not None and isinstance(found, Taken):
        lapsing.watch(tx, stream, found.board)
    return found


def lease_of(caller: Caller, agent: Agent) -> timedelta | None:
    """For how long a claim lasts without a sign of life. Of attempts moot knows itself whether they are alive, and
    people take their time: they hold it until it is done or given back."""
    return None if caller.attempt is not None or agent.backend == "human" else claims.LEASE


def known(tx: ReadTx, caller: Caller, id: str) -> Task:
    """A task of the caller's instance, to look at; TaskNotFound otherwise."""
    instance = instances.find(tx, caller.instance)
    if instance is None:
        raise tasks.missing(id)
    return tasks.get(tx, TaskId(id), instance.stream)


def held(tx: Tx, caller: Caller, id: TaskId) -> Task:
    """A task that the caller holds; ClaimLost otherwise."""
    stream = acting.instance_of(tx, caller).stream
    _take_up(tx, caller, tasks.locked(tx, id, stream))
    return claims.hold(tx, id, acting.hand(caller), stream)


def _take_up(tx: Tx, caller: Caller, task: Task) -> None:
    """Who comes from outside was given a task by mail, and acts for the first time: it goes on through this hand."""
    if task.hand == "" and task.holder is not None and task.holder == caller.agent and caller.attempt is None:
        claim(tx, caller, agents.get(tx, task.holder), task.id, task.stream)


def holder_of(task: Task) -> AgentId:
    assert task.holder is not None  # who holds it is asked by whoever holds it
    return task.holder


def releasable(tx: Tx, caller: Caller, id: TaskId) -> Task:
    """A task that the caller holds, or anybody's for an operator."""
    task = tasks.locked(tx, id, acting.instance_of(tx, caller).stream)
    is_own = task.hand == acting.hand(caller) or (task.hand == "" and task.holder == caller.agent)
    if task.status not in HELD or not (is_own or caller.role == "operator"):
        raise claims.lost(task)
    return task


def update(tx: Tx, caller: Caller, id: TaskId, status: TaskStatus, result: Result, reason: str = "") -> None:
    """What somebody says of a task: its holder how it goes on and ends, others that it is to be tried again or not at
    all."""
    match status:
        case "pending":
            _give_back(tx, caller, id, reason)
        case "skipped":
            task = _free(tx, caller, id)
            progress.skip(tx, task, replace(result, outcome=result.outcome or reason or None, by=_doer(tx, caller)))
        case "completed" | "verifying":
            task = _going_on(tx, caller, id, status)
            teamwork.check_handoff(tx, caller, task, result.outcome)
            if task.checks:
                verifying.begin(tx, task, result)
            elif status == "completed":
                progress.complete(tx, task, replace(result, by=task.holder))
            else:  # nobody would ever end it, nor take it from who has died over it
                raise InvalidTransition(f"Nothing verifies the task {task.name!r}: it has no checks.", "Say completed.")
        case "failed":
            task = _going_on(tx, caller, id, status)
            progress.fail(tx, task, replace(result, by=task.holder))
        case "planning" | "in_progress":
            progress.advance(tx, _going_on(tx, caller, id, status), status)


def _going_on(tx: Tx, caller: Caller, id: TaskId, status: TaskStatus) -> Task:
    """A task that the caller holds. Who has ended it has not lost it, and is told what is still possible."""
    task = tasks.locked(tx, id, acting.instance_of(tx, caller).stream)
    if task.ended_at is not None and task.done_by is not None and acting.is_own(tx, caller, task.done_by):
        states.check_task(task.name, task.status, status)
    return held(tx, caller, id)


def _give_back(tx: Tx, caller: Caller, id: TaskId, reason: str) -> None:
    task = tasks.locked(tx, id, acting.instance_of(tx, caller).stream)
    if task.status not in HELD and task.status != "pending":
        progress.retry(tx, task)
    else:
        claims.release(tx, releasable(tx, caller, id), reason or f"given back by {caller.name}")


def _free(tx: Tx, caller: Caller, id: TaskId) -> Task:
    """A task that nobody holds, or one that the caller may release."""
    task = tasks.locked(tx, id, acting.instance_of(tx, caller).stream)
    return releasable(tx, caller, id) if task.status in HELD else task


def _doer(tx: Tx, caller: Caller) -> AgentId | None:
    found = acting.known_agent_for(tx, caller, None)
    return found.id if found else None


@record
class Able:
    """Somebody who looks for work."""

    name: str
    capabilities: frozenset[str]

    def fits(self, task: Task) -> bool:
        return task.is_for(self.name) and self.capabilities.issuperset(task.capabilities)


def fitting(tx: ReadTx, among: Iterable[Board], able: Able, limit: int) -> Sequence[Task]:
    """What can be claimed now and needs nothing that this one cannot do."""
    found: list[Task] = []
    for board in among:
        ready = tasks.available(tx, board.id, _LOOKED_THROUGH)
        found.extend(one for one in ready if able.fits(one))
        if len(found) >= limit:
            break
    return found[:limit]
