"""Checkpoints: what was done, decided or went wrong on the way, so that somebody else can go on from there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from moot.board.tasks import Task
from moot.core import json
from moot.core.events import Event
from moot.core.ids import AgentId, CheckpointId, TaskId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
Type = Literal["plan", "progress", "decision", "error", "recovery", "complete"]
ADDED = "checkpoint_added"
ENDLESS = 2**53  # no task has as many


@record
class Checkpoint:
    id: CheckpointId
    task: TaskId
    number: int  # counts from 1 within its task
    type: Type
    summary: str
    detail: Mapping[str, Json]
    files: tuple[str, ...]
    agent: AgentId
    at: datetime


@record
class Note:
    """What is to be remembered."""

    type: Type
    summary: str
    detail: Mapping[str, Json]
    files: tuple[str, ...] = ()


def add(tx: Tx, task: Task, note: Note, agent: AgentId) -> Checkpoint:
    """For a task that the caller holds: nobody else numbers its checkpoints at the same moment."""
    id = CheckpointId(tx.new_id("cp"))
    number = tx.one(
        sql.add,
        int,
        id=id,
        task=task.id,
        type=note.type,
        summary=note.summary,
        detail=json.dumps(note.detail),
        files=json.dumps(note.files),
        agent=agent,
        now=tx.now,
    )
    tx.announce(Event(task.stream, ADDED, task.id, {"type": note.type, "summary": note.summary[:200]}, is_quiet=True))
    return Checkpoint(id, task.id, number, note.type, note.summary, note.detail, note.files, agent, tx.now)


def latest(tx: ReadTx, task: TaskId, limit: int, before: int = ENDLESS) -> list[Checkpoint]:
    """The newest first, from the one before a number."""
    return tx.all(sql.latest, Checkpoint, task=task, limit=limit, before=before)


def page(tx: ReadTx, task: TaskId, limit: int, after: int = 0) -> list[Checkpoint]:
    """The oldest first, from the one after a number."""
    return tx.all(sql.page, Checkpoint, task=task, limit=limit, after=after)


def count(tx: ReadTx, task: TaskId) -> int:
    """As many as the last one's number: none is ever taken away."""
    return tx.maybe(sql.last_number, int, task=task) or 0
