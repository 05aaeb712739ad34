"""Plans and tasks from a terminal: the same tools that agents use, and finding what is meant by a name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from moot.api.access import Access
from moot.api.tallies import OPEN
from moot.board import applying, boards, checks, plans, tasks
from moot.board.boards import Board, NewBoard
from moot.board.checks import Check
from moot.board.errors import TaskNotFound, WorkflowNotFound
from moot.board.laying import Laid
from moot.board.plans import Plan
from moot.board.states import BoardStatus
from moot.board.tasks import Edge, Task
from moot.core import json
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import BoardId, TaskId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, names
from moot.runner import plan_section
from moot.tools import dispatch
from moot.workflow import plan_files

FOLDER = "plans"  # below .moot


class WorkflowUnclear(InvalidInput):
    """Several could be meant."""

    code = "WORKFLOW_UNCLEAR"


class PlanSaved(InvalidInput):
    """There is a plan of that name."""

    code = "PLAN_SAVED"


class TaskRefused(MootError):
    """Somebody else has it, or it is not ready."""

    code = "TASK_REFUSED"


class Refused(MootError):
    """What a tool has answered instead of a result."""

    def __init__(self, code: str, fact: str, remedy: str) -> None:
        super().__init__(fact, remedy)
        self.code = code  # pyright: ignore[reportAttributeAccessIssue]  # each of them has that of its tool


@record
class Drawn:
    """A task with what it needs, for whoever draws a plan."""

    task: Task
    needs: tuple[Edge, ...]
    holder: str


async def act(access: Access, tool: str, **arguments: Json) -> Mapping[str, Any]:
    """As an agent would, by the same tool."""
    answer = await dispatch.perform(access.store, access.caller, tool, arguments, tells_mail=False)
    if answer.is_error:
        error: Any = answer.structured["error"]
        raise Refused(error["code"], error["message"], error["remedy"])
    return answer.structured


async def claim(access: Access, task: Task) -> None:
    """For whoever is about to end it; TaskRefused, if it is not theirs."""
    answer = await act(access, "task_claim", task_id=task.id)
    if not answer["success"]:
        raise TaskRefused(f"{task.name} cannot be claimed: {why(answer)}", "See moot task show.")


def why(refusal: Mapping[str, Any]) -> str:
    """Why a task was not claimed."""
    waits: Sequence[str] = refusal.get("waiting_on", ())
    return f"It waits for {', '.join(waits)}." if waits else refusal["reason"]


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
        raise WorkflowUnclear("It is not clear which plan is meant.", f"Name one with --plan: {names}.")
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


async def whole(access: Access, task: Task) -> tuple[dict[str, Any], list[Check]]:
    """All there is to know of a task."""
    card = await act(access, "task_get", id=task.id)
    needs = await act(access, "task_check_dependencies", id=task.id)
    noted = await act(access, "checkpoint_list", task_id=task.id)
    checked = await access.store.read(lambda tx: checks.latest(tx, task.id))
    around = {"dependencies": needs["dependencies"], "dependants": needs["dependants"]}
    return {**card, **around, "checkpoints": noted["checkpoints"]}, checked


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


async def apply(access: Access, target: str, given: Sequence[str], onto: str | None) -> tuple[Board, Laid]:
    """A plan file, as a new board or as the new plan of one that is there."""
    file = plan_files.read(_file(access, target), given)
    plan = Plan(
        file.summary, file.approach, plan_section.planned(file.tasks, file.values), file.risks, file.assumptions
    )
    plans.check(plan.tasks)  # before there is a board for it
    id = (await find(access, onto)).id if onto is not None else await _created(access, file, target)
    laid = await applying.apply(access.store, id, plan, access.caller)
    return await access.store.read(lambda tx: boards.get(tx, id)), laid


async def _created(access: Access, file: plan_files.PlanFile, target: str) -> BoardId:
    def change(tx: Tx) -> BoardId:
        instance = instances.ensure(tx, access.caller.instance)
        new = NewBoard(
            instance=instance.name,
            stream=instance.stream,
            name=file.name,
            source_type="file",
            source_content=file.summary,
            source_ref=target,
            max_parallel=file.max_parallel_tasks,
            makes_workspaces=file.makes_workspaces,
            created_by=access.caller.name,
        )
        return boards.create(tx, new).id

    return await access.store.write(change, caller=access.caller)


def _file(access: Access, target: str) -> Path:
    """A path, or the name of one in .moot/plans."""
    if "/" in target or target.endswith((".yaml", ".yml", ".json")) or Path(target).exists():
        return Path(target)
    return access.project.root / ".moot" / FOLDER / f"{target}.yaml"


async def saved(access: Access, board: Board) -> dict[str, Json]:
    """The plan of a board as a plan file has it, without how far it has come."""

    def look(tx: ReadTx) -> dict[str, Json]:
        found: list[Mapping[str, Json]] = []
        some = tasks.page(tx, board.id)
        while some:
            found += [_spelled(tx, one) for one in some]
            some = tasks.page(tx, board.id, after=some[-1].rank)
        said = plan_files.written(board.name, board.plan, found)
        most: dict[str, Json] = {"max_parallel_tasks": board.max_parallel} if board.max_parallel > 1 else {}
        return said | most | ({"auto_create_workspaces": True} if board.makes_workspaces else {})

    return await access.store.read(look)


def write(access: Access, name: str, said: Mapping[str, Json]) -> Path:
    """As a plan file of the project; never over one that is there."""
    names.check_instance(name)  # it becomes the name of a file
    file = access.project.root / ".moot" / FOLDER / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(f"{json.pretty(said)}\n")  # JSON is YAML, too
    except FileExistsError as error:
        raise PlanSaved(f"{file} is there already.", "Choose another name, or remove it.") from error
    return file


def _spelled(tx: ReadTx, task: Task) -> Mapping[str, Json]:
    needs: list[Json] = [
        one.name if one.kind == "blocks" else {"task": one.name, "type": one.kind}
        for one in tasks.needs(tx, task.id, plans.MOST_NEEDS)
    ]
    said: dict[str, Json] = {
        "name": task.name,
        "description": task.description,
        "depends_on": needs,
        "agent": task.assigned,
        "parallel_group": task.parallel_group,
        "estimated_complexity": task.complexity,
        "files_likely_affected": list(task.files),
        "capabilities": list(task.capabilities),
        "checks": [dict(one) for one in task.checks],
    }
    return {key: value for key, value in said.items() if value}
