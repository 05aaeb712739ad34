"""How its holder means to do a task: a plan of its own, which may change on the way."""

from collections.abc import Mapping

from moot.board import checkpoints, claims
from moot.board.checkpoints import Note
from moot.board.tasks import Task
from moot.core import json
from moot.core.events import Event
from moot.core.ids import AgentId
from moot.core.json import Json
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)
PLANNED = "task_planned"


def plan(tx: Tx, task: Task, words: Mapping[str, Json], context: Mapping[str, Json] | None = None) -> None:
    """For the holder of the task, whose time starts anew."""
    tx.run(
        sql.plan,
        id=task.id,
        plan=json.dumps(words),
        context=json.dumps(task.context if context is None else context),
        now=tx.now,
        lease_until=tx.now + claims.LEASE,
    )
    tx.announce(Event(task.stream, PLANNED, task.id, {"name": task.name}, is_quiet=True))


def replan(tx: Tx, task: Task, words: Mapping[str, Json], reason: str, agent: AgentId) -> None:
    """Another plan; the one before, and why it was given up, stay as a checkpoint."""
    checkpoints.add(tx, task, Note("plan", f"Planned anew: {reason}", {"before": dict(task.plan)}), agent)
    plan(tx, task, words)
