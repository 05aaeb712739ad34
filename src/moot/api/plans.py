"""Plans and tasks for whoever looks at them: what is meant by a name, and what there is."""

from collections.abc import Sequence
from typing import Any

from moot.api.access import Access
from moot.api.tallies import OPEN
from moot.board import boards, tasks
from moot.board.boards import Board
from moot.board.errors import TaskNotFound, WorkflowNotFound
from moot.board.states import BoardStatus
from moot.board.tasks import Edge, Task
from moot.core.errors import InvalidInput
from moot.core.ids import TaskId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents, instances


class WorkflowUnclear(InvalidInput):
    """Several could be meant."""

    code = "WORKFLOW_UNCLEAR"


@record
class Drawn:
    """A task with what it needs, for whoever draws a plan."""

    task: Task
    needs: tuple[Edge, ...]
    holder: str


async def listed(access: Access, statuses: Sequence[BoardStatus] = ()) -> list[Board]:
    return await access.store.read(lambda tx: boards.all_of(tx, access.caller.instance, statuses))


async def find(access: Access, named: str | None) -> Board:
    """By id or name; without one, the only one that is open, or else the last."""
    return await access.store.read(lambda tx: _find(tx, access, named))


def _find(tx: ReadTx, access: Access, named: str | None) -> Board:
    every = boards.all_of(tx, access.caller.instance)
    if named is not None:
        found = [one for one in every if named in (one.id, one.name)]
        if not found:
            raise WorkflowNotFound(f"There is no plan {named[:80]!r} here.", "See moot plan ls.")
        return found[0]
    current = [one for one in every if one.status in OPEN]
    if len(current) > 1:
        names = ", ".join(f"{one.id} ({one.name})" for one in current[:10])
        raise WorkflowUnclear("It is not clear which plan is meant.", f"Say which (of a task, with --plan): {names}.")
    if not every:
        raise WorkflowNotFound("There is no plan here.", "Apply one with moot plan apply FILE.")
    return current[0] if current else every[0]


async def find_task(access: Access, target: str, plan: str | None) -> Task:
    """By its id, or by its name in a plan."""

    def look(tx: ReadTx) -> Task:
        found = tasks.find(tx, TaskId(target))
        instance = instances.find(tx, access.caller.instance)
        if found is not None and instance is not None and found.stream == instance.stream:
            return found
        board = _find(tx, access, plan)
        named = tasks.named(tx, board.id, target)
        if named is None:
            raise TaskNotFound(f"There is no task {target[:80]!r} in {board.name}.", "See moot task ls.")
        return named

    return await access.store.read(look)


async def page(access: Access, board: Board, statuses: Sequence[str], limit: int) -> list[Drawn]:
    """The first tasks in some states, or in any. That a task is blocked is no state of its own in the store."""
    stored: Any = tuple({"pending" if one == "blocked" else one for one in statuses})

    def look(tx: ReadTx) -> list[Drawn]:
        found: list[Task] = []
        after = -1
        while len(found) < limit and (some := tasks.page(tx, board.id, after=after, limit=limit, statuses=stored)):
            found += [one for one in some if not statuses or status_of(one) in statuses]
            after = some[-1].rank
        return [_drawn(tx, one) for one in found[:limit]]

    return await access.store.read(look)


def status_of(task: Task) -> str:
    return "blocked" if task.is_blocked else task.status


def _drawn(tx: ReadTx, task: Task) -> Drawn:
    holder = "" if task.holder is None else agents.get(tx, task.holder).name
    return Drawn(task, tuple(tasks.needs(tx, task.id)), holder)
