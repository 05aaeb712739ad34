"""Laying a plan onto a board: its tasks become rows, in pieces if they are many. A live board keeps what is done."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from moot.board import boards, plans, progress
from moot.board.boards import Board
from moot.board.errors import PlanRefused
from moot.board.plans import Checked, Kind, Plan, Planned
from moot.board.states import HELD, TaskStatus
from moot.core import json
from moot.core.events import Event
from moot.core.ids import BoardId, TaskId
from moot.core.records import record
from moot.core.tx import Tx, Value
from moot.store import queries

sql = queries.beside(__file__)
PLANNED = "plan_set"
MOST_AT_ONCE = 5000  # tasks in one transaction, which must be short
_FINISHED: frozenset[TaskStatus] = frozenset(("completed", "skipped"))


@record
class There:
    """A task of a board that is planned anew."""

    id: TaskId
    name: str
    folded: str
    status: TaskStatus


@record
class Laid:
    added: int
    kept: int
    removed: int
    groups: tuple[str, ...]  # of tasks that may be done side by side


def set_plan(tx: Tx, board: BoardId, plan: Plan) -> Laid:
    """The plan of a board, the first or a new one: what is finished or being worked on stays as it is."""
    _check_size(plan.tasks)
    target, found = _held(tx, board, lambda: tx.all(sql.there, There, board=board))
    there = {one.folded: one for one in found}
    planned = {plans.fold(task.name) for task in plan.tasks}
    old = [one for folded, one in there.items() if folded not in planned]
    checked = plans.check(plan.tasks, [one.name for one in old if one.status in _FINISHED])
    if busy := [one.name for one in old if one.status in HELD]:
        raise PlanRefused(f"{_listed(busy)}: being worked on, and not in the new plan.", "Release or skip it first.")
    gone = [one for one in old if one.status not in _FINISHED]
    kept = {folded: there[folded] for folded in planned & there.keys() if there[folded].status in _FINISHED | HELD}
    anew = {folded: there[folded].id for folded in planned & there.keys() if folded not in kept}
    _remove(tx, [one.id for one in gone])
    _take_up(tx, anew.values())
    ordered = list(enumerate(in_order(checked.tasks)))
    new = [(rank, task) for rank, task in ordered if plans.fold(task.name) not in kept]
    _rerank(tx, [(kept[name].id, rank) for rank, task in ordered if (name := plans.fold(task.name)) in kept])
    made = lay_tasks(tx, target, checked, new, anew)
    lay_edges(tx, edges(checked, {one.folded: one.id for one in there.values()} | made, made))
    tx.run(sql.count_blockers, board=board)
    boards.describe(tx, target, plan.words)
    _go_on(tx, target)
    return Laid(len(made) - len(anew), len(kept) + len(anew), len(gone), groups_of(plan.tasks))


def add_tasks(tx: Tx, board: BoardId, tasks: Sequence[Planned]) -> Laid:
    """More tasks, after those that are there, which they may need."""
    _check_size(tasks)
    names = {plans.fold(name) for task in tasks for name in (task.name, *(need.name for need in task.needs))}
    named = json.dumps(sorted(names))
    target, there = _held(tx, board, lambda: tx.all(sql.some_there, There, board=board, names=named))
    if target.is_half_planned:
        raise PlanRefused(target.reason, "Wait until all of it is there, or apply the plan again.")
    checked = plans.check(tasks, [one.name for one in there])
    first = tx.one(sql.next_rank, int, board=board)
    made = lay_tasks(tx, target, checked, list(enumerate(in_order(checked.tasks), first)))
    lay_edges(tx, edges(checked, {one.folded: one.id for one in there} | made, made))
    tx.many(sql.count_blockers_of, ({"id": id} for id in made.values()))
    _go_on(tx, target)
    return Laid(len(tasks), 0, 0, groups_of(tasks))


def lay_tasks(
    tx: Tx,
    board: Board,
    checked: Checked,
    ranked: Sequence[tuple[int, Planned]],
    ids: Mapping[str, TaskId] | None = None,
) -> dict[str, TaskId]:
    """Rows for tasks, under the ids they had or new ones; their blockers are counted as all that they need."""
    made: dict[str, TaskId] = {}
    rows: list[dict[str, Value]] = []
    now = tx.now
    for rank, task in ranked:
        folded = plans.fold(task.name)
        id = made[folded] = (ids or {}).get(folded) or TaskId(tx.new_id("tk"))
        rows.append(
            {
                "id": id,
                "board": board.id,
                "stream": board.stream,
                "name": task.name,
                "folded": folded,
                "description": task.description,
                "rank": rank,
                "parallel_group": task.parallel_group,
                "complexity": task.complexity,
                "assigned": task.assigned,
                "capabilities": _json(task.capabilities),
                "files": _json(task.files),
                "checks": _json(task.checks),
                "blockers": sum(kind == "blocks" for kind in checked.edges[folded].values()),
                "now": now,
            }
        )
    tx.many(sql.add, rows)
    return made


def _json(values: Sequence[object]) -> str:
    return json.dumps(values) if values else "[]"


def lay_edges(tx: Tx, edges: Iterable[tuple[TaskId, TaskId, Kind]]) -> None:
    tx.many(sql.add_edge, ({"task": task, "needs": needs, "kind": kind} for task, needs, kind in edges))


def clear(tx: Tx, board: BoardId, most: int) -> int:
    """Take away tasks of a plan that was not finished; how many there were, at most as many."""
    found = tx.all(sql.some, There, board=board, limit=most)
    _remove(tx, [one.id for one in found])
    return len(found)


def open_board(tx: Tx, board: Board, plan: Plan) -> None:
    """All of the plan is laid."""
    boards.describe(tx, board, plan.words)
    _go_on(tx, board)


def groups_of(tasks: Iterable[Planned]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task.parallel_group for task in tasks if task.parallel_group is not None))


def _held(tx: Tx, id: BoardId, look: Callable[[], list[There]]) -> tuple[Board, list[There]]:
    """A board and tasks of it that nobody else changes. Tasks come first, as for everybody; who has waited for the
    board looks again, because others may have been added meanwhile."""
    look()
    board = boards.held(tx, id)
    return board, look()


def _check_size(tasks: Sequence[Planned]) -> None:
    if len(tasks) > MOST_AT_ONCE:
        raise PlanRefused(
            f"{len(tasks):,} tasks are too many for one call; {MOST_AT_ONCE:,} will do.",
            "Give the rest with workflow_add_tasks, or all of them with moot plan apply.",
        )


def in_order(tasks: Sequence[Planned]) -> list[Planned]:
    """As they stand, but for those that say their own place."""
    return [task for _, task in sorted(enumerate(tasks), key=lambda one: (_place(*one), one[0]))]


def _place(index: int, task: Planned) -> int:
    return index if task.sequence is None else task.sequence


def edges(checked: Checked, ids: Mapping[str, TaskId], wanted: Iterable[str]) -> Iterator[tuple[TaskId, TaskId, Kind]]:
    """What each of the wanted tasks needs."""
    return ((ids[task], ids[name], kind) for task in wanted for name, kind in checked.edges[task].items())


def _remove(tx: Tx, gone: Iterable[TaskId]) -> None:
    rows = [{"id": one} for one in gone]
    for statement in (sql.remove_checks, sql.remove_checkpoints, sql.remove_edges_back, sql.remove_edges, sql.remove):
        tx.many(statement, rows)


def _take_up(tx: Tx, anew: Iterable[TaskId]) -> None:
    """They are planned anew under their old ids; what was noted of them stays."""
    rows = [{"id": one} for one in anew]
    for statement in (sql.remove_edges, sql.remove):
        tx.many(statement, rows)


def _rerank(tx: Tx, ranks: Iterable[tuple[TaskId, int]]) -> None:
    tx.many(sql.rerank, ({"id": id, "rank": rank} for id, rank in ranks))


def _go_on(tx: Tx, board: Board) -> None:
    """A first plan makes a board ready; one that was over goes on, if anything is left to do."""
    match board.status:
        case "planning":
            boards.turn(tx, board, "ready")
        case "completed" | "failed":
            boards.turn(tx, board, "in_progress")
        case _:
            pass
    progress.settle(tx, board.id)
    tx.announce(Event(board.stream, PLANNED, board.id))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:5]) + (" …" if len(names) > 5 else "")
