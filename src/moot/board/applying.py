"""Applying a plan of any size.

A large one is laid in pieces, because transactions are short. Meanwhile its board is being planned, so that nobody can
claim anything. Whoever is interrupted leaves it so; whoever applies a plan again starts over, and an older one that
still goes on is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from moot.board import boards, laying, plans, tasks
from moot.board.boards import Board
from moot.board.errors import PlanRefused
from moot.board.laying import MOST_AT_ONCE, Laid
from moot.board.plans import Plan
from moot.core.caller import Caller
from moot.core.ids import BoardId, TaskId
from moot.core.records import record
from moot.core.tx import Tx
from moot.store.store import Store

T = TypeVar("T")
PIECE = 1000  # rows in one transaction


async def apply(store: Store, id: BoardId, plan: Plan, caller: Caller) -> Laid:
    """The plan of a board. One with more tasks than fit a transaction only before anybody has begun."""
    if len(plan.tasks) <= MOST_AT_ONCE:
        early = laying.check_early(plan)
        return await store.write(lambda tx: laying.set_plan(tx, id, plan, early), caller=caller)
    checked = plans.check(plan.tasks)
    site = await store.write(lambda tx: _begin(tx, id), caller=caller)

    async def piece(change: Callable[[Tx], T]) -> T:
        def guarded(tx: Tx) -> T:
            site.guard(tx)
            return change(tx)

        return await store.write(guarded, caller=caller)

    removed = 0
    while cleared := await piece(lambda tx: laying.clear(tx, id, PIECE)):
        removed += cleared
    ids: dict[str, TaskId] = {}
    for some in _pieces(enumerate(laying.in_order(checked.tasks))):
        ids |= await piece(lambda tx, some=some: laying.lay_tasks(tx, site.board, checked, some))
    for some in _pieces(laying.edges(checked, ids, ids)):
        await piece(lambda tx, some=some: laying.lay_edges(tx, some))
    await piece(lambda tx: laying.open_board(tx, site.board, plan))
    return Laid(len(ids), 0, removed, laying.groups_of(plan.tasks))


@record
class _Site:
    """A board whose plan is being laid by one applier."""

    board: Board

    def guard(self, tx: Tx) -> None:
        """PlanRefused if somebody else has begun to plan it."""
        now = boards.held(tx, self.board.id)
        if (now.status, now.reason) != (self.board.status, self.board.reason):
            raise PlanRefused(f"Somebody else has planned {now.name!r} meanwhile.", "See workflow_get.")


def _begin(tx: Tx, id: BoardId) -> _Site:
    board = boards.held(tx, id)
    if board.status != "planning" and (board.status != "ready" or tasks.finished(tx, id, 1)):
        raise PlanRefused(
            f"More than {MOST_AT_ONCE:,} tasks are planned before work begins, and {board.name!r} is {board.status}.",
            "Add them in pieces with workflow_add_tasks.",
        )
    boards.turn(tx, board, "planning", f"{boards.HALF_PLANNED} ({tx.new_id('pl')}).")
    return _Site(boards.get(tx, id))


def _pieces(rows: Iterator[T]) -> Iterator[Sequence[T]]:
    while some := tuple(islice(rows, PIECE)):
        yield some
