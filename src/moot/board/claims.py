"""Claims: one holder at a time, for as long as it gives signs of life.

A claim belongs to an agent and to the hand it acts through, a token or an attempt. What another hand writes, or the
same one after its time has run out, is refused; it may claim again. Every new holder grows the fence.
"""

from datetime import timedelta
from typing import Literal

from moot.board import boards, states, tasks
from moot.board.errors import ClaimLost
from moot.board.states import BoardStatus
from moot.board.tasks import Task
from moot.core import clock
from moot.core.events import Event
from moot.core.ids import AgentId, BoardId, StreamId, TaskId
from moot.core.records import record
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)
LEASE = timedelta(seconds=300)
CLAIMED, RELEASED = "task_claimed", "task_released"
Obstacle = Literal["claimed", "blocked", "assigned", "finished", "workflow"]


@record
class Holder:
    """Who acts, and through what."""

    agent: AgentId
    name: str
    hand: str


@record
class Taken:
    """The task is the claimer's."""

    board: BoardId
    stream: StreamId
    name: str
    fence: int
    workflow_status: BoardStatus


@record
class Refused:
    """It is not, and why."""

    obstacle: Obstacle
    reason: str
    holder: AgentId | None = None
    hand: str | None = None
    waiting_on: tuple[str, ...] = ()


def claim(tx: Tx, id: TaskId, holder: Holder, stream: StreamId, lease: timedelta | None = LEASE) -> Taken | Refused:
    """Take a task that is ready, or whose holder's time has run out; the same holder again has it anew. Without a lease
    it is held until it is given back: for those of whom moot knows whether they are at work."""
    taken = _take(tx, id, holder, stream, lease)
    if taken is None:
        # What stands in the way may be gone by the time it is looked at: from now on it stays as it is.
        task = tasks.locked(tx, id, stream)
        taken = _take(tx, id, holder, stream, lease)
        if taken is None:
            return _obstacle(tx, task, holder)
    if taken.workflow_status == "ready":
        boards.turn(tx, boards.get(tx, taken.board), "in_progress")
    tx.announce(
        Event(stream, CLAIMED, id, {"name": taken.name, "by": holder.name, "fence": taken.fence}, is_quiet=True)
    )
    return taken


def _take(tx: Tx, id: TaskId, holder: Holder, stream: StreamId, lease: timedelta | None) -> Taken | None:
    return tx.maybe(
        sql.claim,
        Taken,
        id=id,
        stream=stream,
        agent=holder.agent,
        name=holder.name,
        hand=holder.hand,
        now=tx.micros,
        lease_until=None if lease is None else tx.micros + lease // clock.MICROSECOND,
    )


def hold(tx: Tx, id: TaskId, hand: str, stream: StreamId) -> Task:
    """The task, for a write by its holder; ClaimLost for everybody else. It stays so until the end."""
    task = tasks.locked(tx, id, stream)
    if task.hand != hand or not task.is_held(tx.now):
        raise lost(task)
    return task


def lost(task: Task) -> ClaimLost:
    if task.status not in states.HELD:
        remedy = "Claim it with task_claim." if task.status == "pending" else "See workflow_next_tasks."
        return ClaimLost(f"Nobody holds the task {task.name!r}, which is {task.status}.", remedy)
    return ClaimLost(
        f"The task {task.name!r} is not, or no more, held by you.",
        "What you did for it may be done by somebody else by now: see task_get, and claim it anew to go on.",
    )


def renew(tx: Tx, task: Task) -> None:
    """Its holder has shown that it goes on."""
    tx.run(sql.renew, id=task.id, lease_until=tx.now + LEASE)


def renew_all(tx: Tx, agent: AgentId, hand: str) -> int:
    """Signs of life: how many tasks an agent holds through this hand, and goes on to hold."""
    return tx.run(sql.renew_all, agent=agent, hand=hand, now=tx.now, lease_until=tx.now + LEASE)


def rebind(tx: Tx, agent: AgentId, hand: str) -> None:
    """What an agent holds without a lease, it holds through another hand from now on."""
    tx.run(sql.rebind, agent=agent, hand=hand)


def release(tx: Tx, task: Task, reason: str) -> None:
    """Back to those who wait for somebody; what was noted stays."""
    states.check_task(task.name, task.status, "pending")
    tx.run(sql.release, id=task.id, now=tx.now)
    tx.announce(Event(task.stream, RELEASED, task.id, {"name": task.name, "reason": reason}))


def release_all(tx: Tx, agent: AgentId, reason: str, hand: str | None = None) -> int:
    """Everything that an agent holds, through one hand or any."""
    found = [tasks.locked(tx, one.id) for one in tasks.held_by(tx, agent)]
    held = [one for one in found if one.holder == agent and hand in (None, one.hand)]
    for one in held:
        release(tx, one, reason)
    return len(held)


def _obstacle(tx: Tx, task: Task, holder: Holder) -> Refused:
    if task.status in states.HELD and task.holder != holder.agent:
        reason = "It is held by somebody else."
        if task.lease_until is not None:
            reason += f" It is free at {task.lease_until:%H:%M:%S} UTC, unless they give a sign of life."
        return Refused("claimed", reason, task.holder, task.hand)
    if task.status not in ("pending", *states.HELD):
        return Refused("finished", f"It is {task.status}.")
    board = boards.get(tx, task.board)
    if board.status not in states.OPEN_BOARDS:
        return Refused("workflow", f"The workflow is {board.status}.")
    if not task.is_for(holder.name):
        return Refused("assigned", f"It is meant for {task.assigned}.")
    waiting_on = tuple(edge.name for edge in tasks.needs(tx, task.id) if edge.is_waited_for)
    return Refused("blocked", "It waits for other tasks.", waiting_on=waiting_on)
