"""Laying a plan onto a board: its tasks become rows, in pieces if they are many. A live board keeps what is done."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from moot.board import boards, plans, progress
from moot.board.boards import Board
from moot.board.errors import InvalidTransition, PlanRefused
from moot.board.plans import Checked, Complexity, Kind, Plan, Planned
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
    description: str
    rank: int
    parallel_group: str | None
    complexity: Complexity | None
    assigned: str | None
    capabilities: str
    files: str
    checks: str


_PLANNED = ("name", *(field.name for field in fields(There)[4:]))  # what a plan says of a task


@record
class Needed:
    """What a task that is there needs."""

    task: TaskId
    needs: TaskId
    kind: Kind


@record
class Laid:
    added: int
    kept: int
    removed: int
    groups: tuple[str, ...]  # of tasks that may be done side by side


def check_early(plan: Plan) -> Checked | None:
    """For who has a large plan to lay, before the transaction; None if that depends on what is on the board."""
    try:
        return plans.check(plan.tasks)
    except PlanRefused:
        return None


def hold(tx: Tx, board: BoardId) -> None:
    """Nobody plans anew until the end. Tasks are held before their board, as by everybody."""
    tx.all(sql.hold_there, str, board=board)
    boards.held(tx, board)


def set_plan(tx: Tx, board: BoardId, plan: Plan, checked: Checked | None = None) -> Laid:
    """The plan of a board, the first or a new one: what is finished or being worked on stays as it is, and what is
    planned as it was is not touched."""
    _check_size(plan.tasks)
    # Tasks are held before their board, as by everybody; others may be added while that is waited for.
    tx.all(sql.hold_there, str, board=board)
    target, found = boards.held(tx, board), tx.all(sql.there, There, board=board)
    _check_open(target)
    there = {one.folded: one for one in found}
    planned = {plans.fold(task.name) for task in plan.tasks}
    old = [one for folded, one in there.items() if folded not in planned]
    checked = checked or plans.check(plan.tasks, [one.name for one in old if one.status in _FINISHED])
    if busy := [one.name for one in old if one.status in HELD]:
        raise PlanRefused(f"{_listed(busy)}: being worked on, and not in the new plan.", "Release or skip it first.")
    gone = [one for one in old if one.status not in _FINISHED]
    kept = {folded: there[folded] for folded in planned & there.keys() if there[folded].status in _FINISHED | HELD}
    anew = {folded: there[folded] for folded in planned & there.keys() if folded not in kept}
    _remove(tx, [one.id for one in gone])
    ordered = list(enumerate(in_order(checked.tasks)))
    _rerank(tx, [(kept[name].id, rank) for rank, task in ordered if (name := plans.fold(task.name)) in kept])
    _plan_anew(tx, target, checked, ordered, anew)
    made = lay_tasks(tx, target, checked, [one for one in ordered if plans.fold(one[1].name) not in there])
    ids = {one.folded: one.id for one in there.values()} | made
    lay_edges(tx, edges(checked, ids, made))
    if there:
        _change_edges(tx, target, {one.id for one in anew.values()}, edges(checked, ids, anew))
        tx.run(sql.count_blockers, board=board)
    boards.describe(tx, target, plan.words)
    _go_on(tx, target)
    return Laid(len(made), len(kept) + len(anew), len(gone), groups_of(plan.tasks))


def add_tasks(tx: Tx, board: BoardId, tasks: Sequence[Planned]) -> Laid:
    """More tasks, after those that are there, which they may need."""
    _check_size(tasks)
    names = {plans.fold(name) for task in tasks for name in (task.name, *(need.name for need in task.needs))}
    named = json.dumps(sorted(names))
    tx.all(sql.hold_some, str, board=board, names=named)
    target, there = boards.held(tx, board), tx.all(sql.some_there, There, board=board, names=named)
    _check_open(target)
    if target.is_half_planned:
        raise PlanRefused(target.reason, "Wait until all of it is there, or apply the plan again.")
    checked = plans.check(tasks, [one.name for one in there])
    first = tx.one(sql.next_rank, int, board=board)
    made = lay_tasks(tx, target, checked, list(enumerate(in_order(checked.tasks), first)))
    lay_edges(tx, edges(checked, {one.folded: one.id for one in there} | made, made))
    tx.many(sql.count_blockers_of, ({"id": id} for id in made.values()))
    _go_on(tx, target)
    return Laid(len(tasks), 0, 0, groups_of(tasks))


def lay_tasks(tx: Tx, board: Board, checked: Checked, ranked: Sequence[tuple[int, Planned]]) -> dict[str, TaskId]:
    """Rows for tasks; their blockers are counted as all that they need."""
    made = {plans.fold(task.name): TaskId(tx.new_id("tk")) for _, task in ranked}
    now = tx.now
    rows = (
        {"id": made[folded], "board": board.id, "stream": board.stream, "now": now, **_row(rank, task, checked)}
        for (rank, task), folded in zip(ranked, made, strict=True)
    )
    tx.many(sql.add, rows)
    return made


def _row(rank: int, task: Planned, checked: Checked) -> dict[str, Value]:
    folded = plans.fold(task.name)
    return {
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
    }


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


def _check_size(tasks: Sequence[Planned]) -> None:
    if len(tasks) > MOST_AT_ONCE:
        raise PlanRefused(
            f"{len(tasks):,} tasks are too many for one call; {MOST_AT_ONCE:,} will do.",
            "Give the rest with workflow_add_tasks, or all of them with moot plan apply.",
        )


def _check_open(board: Board) -> None:
    """What is abandoned stays so: nobody could ever claim what is planned for it."""
    if board.status == "abandoned":
        raise InvalidTransition(
            f"The workflow {board.name!r} is abandoned and cannot be planned any more.", "Make another for it."
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


def _plan_anew(
    tx: Tx, board: Board, checked: Checked, ordered: Iterable[tuple[int, Planned]], anew: Mapping[str, There]
) -> None:
    """Those that nobody has begun, or that have failed: what was noted of them stays."""
    rows: list[dict[str, Value]] = []
    for rank, task in ordered:
        there = anew.get(plans.fold(task.name))
        if there is None:
            continue
        row = _row(rank, task, checked)
        if there.status != "pending" or any(getattr(there, name) != row[name] for name in _PLANNED):
            rows.append({"id": there.id, "now": tx.now, **row})
    tx.many(sql.plan_anew, rows)


def _change_edges(
    tx: Tx, board: Board, tasks: Collection[TaskId], wanted: Iterable[tuple[TaskId, TaskId, Kind]]
) -> None:
    """What tasks need that were there before."""
    new = set(wanted)
    old = {(one.task, one.needs, one.kind) for one in tx.all(sql.edges, Needed, board=board.id) if one.task in tasks}
    tx.many(sql.remove_edge, ({"task": task, "needs": needs} for task, needs, _ in sorted(old - new)))
    lay_edges(tx, sorted(new - old))


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
