"""Plans: how far each has come, its tasks by state, one of them with all that is known, and a picture of what needs
what."""

from collections.abc import Mapping, Sequence

from moot.api import drawing, tallies
from moot.api import tasks as acting
from moot.api.page import desk
from moot.api.page.desk import Desk, Plain
from moot.api.plans import Drawn
from moot.api.tallies import Tally
from moot.board import boards, checkpoints, checks, tasks, windows
from moot.board.checkpoints import Checkpoint
from moot.board.states import TaskStatus
from moot.board.tasks import Edge, Task
from moot.core import clock
from moot.core.ids import AgentId, BoardId, TaskId
from moot.core.tx import ReadTx
from moot.registry import agents
from moot.registry.errors import AgentNotFound
from moot.registry.instances import Instance
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Picture, Resource

_PLANS = 50
_CARDS = 20  # of each state
_MOST = 200
_DRAWN = 150
_BEFORE = 20  # tasks that are over, drawn before the first that is not
_LETTERS = 300
# As people read a board, from left to right.
_COLUMNS = ("blocked", "ready", "planning", "in_progress", "verifying", "failed", "completed")
_SHOWN_AS: Mapping[TaskStatus, str] = {"pending": "ready", "skipped": "completed"}
_OTHERS: Mapping[str, TaskStatus] = {
    "planning": "planning",
    "in_progress": "in_progress",
    "verifying": "verifying",
    "failed": "failed",
}


def resources(at: Desk) -> list[Resource]:
    async def board(ask: Ask) -> Plain:
        id, limit = BoardId(ask.place["id"]), ask.limit(_CARDS, _MOST)
        return await at.look(ask, lambda tx, instance: _board(tx, desk.there(instance), id, limit))

    async def page(ask: Ask) -> Plain:
        id, limit = BoardId(ask.place["id"]), ask.limit(_CARDS, _MOST)
        status, after = ask.needed_choice("status", _COLUMNS), ask.text("after") or ""
        return await at.look(ask, lambda tx, instance: _page(tx, desk.there(instance), id, status, after, limit))

    async def graph(ask: Ask) -> Picture:
        id, limit, after = BoardId(ask.place["id"]), ask.limit(_DRAWN, 1000), ask.number("after")
        return Picture(await at.store.read(lambda tx: _graph(tx, ask, id, after, limit)))

    async def one(ask: Ask) -> Plain:
        id = TaskId(ask.place["id"])
        return await at.look(ask, lambda tx, instance: _one(tx, desk.there(instance), id))

    async def retry(ask: Ask) -> Plain:
        id = TaskId(ask.place["id"])
        await acting.act(at.seat(ask), "task_update_status", id=id, status="pending")
        return await at.look(ask, lambda tx, instance: _one(tx, desk.there(instance), id))

    return [
        resource.get("/api/plans", at.answer(_listed)),
        resource.get("/api/plans/{id}/board", board, "limit"),
        resource.get("/api/plans/{id}/tasks", page, "status", "after", "limit"),
        resource.get("/api/plans/{id}/graph.svg", graph, "after", "limit"),
        resource.get("/api/tasks/{id}", one),
        resource.post("/api/tasks/{id}/retry", retry),
    ]


def _listed(tx: ReadTx, instance: Instance | None) -> Plain:
    found = boards.all_of(tx, instance.name, limit=_PLANS) if instance else []
    return {"plans": [_plan(tallies.of_board(tx, one)) for one in found]}


def _plan(tally: Tally) -> Plain:
    board = tally.board
    return {
        "id": board.id,
        "name": board.name,
        "status": board.status,
        "reason": board.reason,
        "max_parallel": board.max_parallel,
        "total": tally.total,
        "done": tally.done,
        "at_work": tally.at_work,
        "blocked": tally.blocked,
        "failed": tally.failed,
        "created_at": clock.to_iso(board.created_at),
    }


def _board(tx: ReadTx, instance: Instance, id: BoardId, limit: int) -> Plain:
    board = boards.get(tx, id, instance.name)
    totals = _totals(tx, id)
    columns: list[Plain] = [
        {"status": status, "total": totals.get(status, 0), **_cards(tx, id, status, "", limit)} for status in _COLUMNS
    ]
    return {"plan": _plan(tallies.of_board(tx, board)), "columns": columns}


def _totals(tx: ReadTx, id: BoardId) -> dict[str, int]:
    found: dict[str, int] = {}
    for count in tasks.counts(tx, id):
        status = "blocked" if count.is_blocked else _SHOWN_AS.get(count.status, count.status)
        found[status] = found.get(status, 0) + count.tasks
    return found


def _page(tx: ReadTx, instance: Instance, id: BoardId, status: str, after: str, limit: int) -> Plain:
    boards.get(tx, id, instance.name)
    return _cards(tx, id, status, after, limit)


def _cards(tx: ReadTx, id: BoardId, status: str, after: str, limit: int) -> Plain:
    """In the order of the plan; what is completed or was left out, the last first. `next`: behind the last of them."""
    found = _some(tx, id, status, after, limit + 1)
    shown, names = found[:limit], dict[AgentId, str]()
    last = shown[-1] if len(found) > limit else None
    following = None if last is None else last.id if status == "completed" else str(last.rank)
    return {"tasks": [_card(tx, one, names) for one in shown], "next": following}


def _some(tx: ReadTx, id: BoardId, status: str, after: str, limit: int) -> Sequence[Task]:
    if status == "completed":
        return tasks.finished(tx, id, limit, tasks.find(tx, TaskId(after)) if after else None)
    rank = int(after) if after.isascii() and after.isdigit() else -1
    if status in ("blocked", "ready"):
        return windows.pending(tx, id, is_blocked=status == "blocked", after=rank, limit=limit)
    return tasks.page(tx, id, after=rank, limit=limit, statuses=(_OTHERS[status],))


def _card(tx: ReadTx, task: Task, names: dict[AgentId, str]) -> Plain:
    status = "blocked" if task.is_blocked else "ready" if task.status == "pending" else task.status
    lease = task.lease_until
    return {
        "id": task.id,
        "name": task.name,
        "status": status,
        "rank": task.rank,
        "group": task.parallel_group,
        "complexity": task.complexity,
        "assigned": task.assigned,
        "holder": _name(tx, task.holder, names),
        "done_by": _name(tx, task.done_by, names),
        "lease_until": clock.to_iso(lease) if lease else None,
        "is_lapsed": lease is not None and lease <= tx.now and task.status != "verifying",
        "waits_for": task.blockers,
        "outcome": _short(task.outcome),
        "error": _short(task.error),
        "started_at": clock.to_iso(task.started_at) if task.started_at else None,
        "ended_at": clock.to_iso(task.ended_at) if task.ended_at else None,
    }


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LETTERS else f"{text[:_LETTERS]}…"


def _name(tx: ReadTx, id: AgentId | None, names: dict[AgentId, str]) -> str | None:
    if id is None:
        return None
    if id not in names:
        try:
            names[id] = agents.get(tx, id).name
        except AgentNotFound:  # it is gone, and what it did is not
            names[id] = id
    return names[id]


def _one(tx: ReadTx, instance: Instance, id: TaskId) -> Plain:
    task, names = tasks.get(tx, id, instance.stream), dict[AgentId, str]()
    return {
        "task": {
            **_card(tx, task, names),
            "plan_id": task.board,
            "description": task.description,
            "files": task.files,
            "capabilities": task.capabilities,
            "outcome": task.outcome,
            "error": task.error,
            "approach": task.plan,
        },
        "needs": [_edge(one) for one in tasks.needs(tx, id)],
        "dependants": [_edge(one) for one in tasks.dependants(tx, id)],
        "checkpoints": [_checkpoint(tx, one, names) for one in checkpoints.latest(tx, id, _CARDS)],
        "checks": [
            {"what": one.spelled, "state": one.state, "output": one.output, "at": clock.to_iso(one.at)}
            for one in checks.latest(tx, id)
        ],
    }


def _edge(one: Edge) -> Plain:
    return {"id": one.id, "name": one.name, "kind": one.kind, "status": one.status}


def _checkpoint(tx: ReadTx, one: Checkpoint, names: dict[AgentId, str]) -> Plain:
    return {
        "number": one.number,
        "type": one.type,
        "summary": one.summary,
        "detail": one.detail,
        "files": one.files,
        "by": _name(tx, one.agent, names),
        "at": clock.to_iso(one.at),
    }


def _graph(tx: ReadTx, ask: Ask, id: BoardId, after: int | None, limit: int) -> str:
    """So many tasks behind a rank; without one, from a little before the first that is not over."""
    board = boards.get(tx, id, ask.instance)
    rank = windows.first_unfinished(tx, id) - _BEFORE - 1 if after is None else after
    found = tasks.page(tx, id, after=rank, limit=limit)
    names: dict[AgentId, str] = {}
    needs: Mapping[TaskId, list[Edge]] = {one.id: tasks.needs(tx, one.id) for one in found}
    drawn = [Drawn(one, tuple(needs[one.id]), _name(tx, one.holder, names) or "") for one in found]
    return drawing.svg(board.name, drawn)
