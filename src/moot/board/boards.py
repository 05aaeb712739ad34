"""Boards: a plan and how far it has come. `tasks` holds what is planned, `settling` says when a board is over."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from moot.board import states
from moot.board.errors import InvalidTransition, WorkflowNotFound
from moot.board.states import BoardStatus
from moot.core import json
from moot.core.events import Event
from moot.core.ids import BoardId, InstanceName, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
HALF_PLANNED = "Its plan is not all there yet"
CREATED, STATUS = "workflow_created", "workflow_status"


@record
class Board:
    id: BoardId
    instance: InstanceName
    stream: StreamId
    name: str
    source_type: str
    source_content: str
    source_ref: str | None
    status: BoardStatus
    reason: str  # why it has failed, was paused or given up
    max_parallel: int
    makes_workspaces: bool
    plan: Mapping[str, Json]  # what it says beside its tasks
    created_by: str
    created_at: datetime
    updated_at: datetime

    @property
    def is_half_planned(self) -> bool:
        """Whether a large plan is being laid in pieces, or was given up in the middle."""
        return self.status == "planning" and self.reason.startswith(HALF_PLANNED)


@record
class NewBoard:
    """What is to be done, before there is a plan for it."""

    instance: InstanceName
    stream: StreamId
    name: str
    source_type: str
    source_content: str
    source_ref: str | None = None
    max_parallel: int = 1
    makes_workspaces: bool = False
    created_by: str = ""
    id: BoardId | None = None  # None: a new one


def create(tx: Tx, new: NewBoard) -> Board:
    id = new.id or BoardId(tx.new_id("wf"))
    tx.run(
        sql.add,
        id=id,
        instance=new.instance,
        stream=new.stream,
        name=new.name,
        source_type=new.source_type,
        source_content=new.source_content,
        source_ref=new.source_ref,
        max_parallel=new.max_parallel,
        makes_workspaces=new.makes_workspaces,
        created_by=new.created_by,
        now=tx.now,
    )
    tx.announce(Event(new.stream, CREATED, id, {"name": new.name}, is_quiet=True))
    return get(tx, id)


def get(tx: ReadTx, id: BoardId, instance: InstanceName | None = None) -> Board:
    """WorkflowNotFound if there is none, or none in this instance."""
    found = find(tx, id)
    if found is None or instance not in (None, found.instance):
        raise WorkflowNotFound(f"There is no workflow {id[:80]!r} here.", "See workflow_list, or moot plan.")
    return found


def find(tx: ReadTx, id: BoardId) -> Board | None:
    return tx.maybe(sql.get, Board, id=id)


def held(tx: Tx, id: BoardId, instance: InstanceName | None = None) -> Board:
    """Like `get`, and nobody else decides about its state until the end: they all hold the counter of its stream."""
    tx.lock("streams", get(tx, id, instance).stream)
    return get(tx, id)


def all_of(tx: ReadTx, instance: InstanceName, statuses: Sequence[BoardStatus] = (), limit: int = 100) -> list[Board]:
    """Those in some states, or all; the newest first."""
    wanted = json.dumps(list(statuses or states.BOARD))
    return tx.all(sql.all_of, Board, instance=instance, statuses=wanted, limit=limit)


def move(tx: Tx, board: Board, status: BoardStatus, reason: str = "") -> bool:
    """InvalidTransition if there is no way; False if it is so already."""
    if board.status == status:
        return False
    states.check_board(board.name, board.status, status)
    if board.is_half_planned and status != "abandoned":
        raise InvalidTransition(board.reason, "Wait until all of it is there, or apply the plan again.")
    return turn(tx, board, status, reason)


def turn(tx: Tx, board: Board, status: BoardStatus, reason: str = "") -> bool:
    """From the state it was read in; False if it is in another by now."""
    if not tx.run(sql.turn, id=board.id, before=board.status, status=status, reason=reason, now=tx.now):
        return False
    tx.announce(Event(board.stream, STATUS, board.id, {"status": status, "reason": reason}))
    return True


def describe(tx: Tx, board: Board, words: Mapping[str, Json]) -> None:
    """What its plan says beside its tasks."""
    tx.run(sql.describe, id=board.id, plan=json.dumps(words), now=tx.now)


def forget(tx: Tx, instance: InstanceName) -> None:
    """All boards of an instance are gone for good, with their tasks."""
    for statement in (sql.forget_checks, sql.forget_checkpoints, sql.forget_edges, sql.forget_tasks, sql.forget):
        tx.run(statement, instance=instance)
