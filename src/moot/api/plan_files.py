"""Plans as files: applied to a board, and saved from one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.api import plans as standing
from moot.api.access import Access
from moot.app.project import PEOPLE_FOLDER, Project
from moot.board import applying, boards, evidence, plans, tasks
from moot.board.boards import Board, NewBoard
from moot.board.laying import Laid
from moot.board.plans import Plan
from moot.board.tasks import Task
from moot.core import json, nearest, schema_checker
from moot.core.errors import InvalidInput
from moot.core.ids import BoardId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.registry import instances, names
from moot.runner import plan_section
from moot.views.files import FileRefused
from moot.workflow import plan_files
from moot.workflow.plan_files import PlanFile

FOLDER = "plans"  # below .moot
_SUFFIXES = (".yaml", ".yml", ".json")


class PlanNotFound(InvalidInput):
    """There is no plan of that name."""

    code = "PLAN_NOT_FOUND"


class PlanSaved(InvalidInput):
    """There is a plan of that name."""

    code = "PLAN_SAVED"


async def apply(access: Access, target: str, given: Sequence[str], onto: str | None) -> tuple[Board, Laid]:
    """A plan file, as a new board or as the new plan of one that is there."""
    return await lay(access, read(access.project, target, given), target, onto)


def read(project: Project, target: str, given: Sequence[str]) -> PlanFile:
    """What `moot plan apply TARGET` means: a path, or the name of one in .moot/plans. Nothing is made of it yet."""
    found = plan_files.read(_file(project, target), given)
    for schema in evidence.schemas(check for one in found.tasks for check in one.checks):
        evidence.refuse_schema(schema_checker.fault(schema))
    plans.check(plan_section.planned(found.tasks, found.values))  # before there is a board for it
    return found


async def lay(access: Access, file: PlanFile, target: str, onto: str | None) -> tuple[Board, Laid]:
    """The same once it is read."""
    plan = Plan(
        file.summary, file.approach, plan_section.planned(file.tasks, file.values), file.risks, file.assumptions
    )
    id = (await standing.find(access, onto)).id if onto is not None else await _created(access, file, target)
    laid = await applying.apply(access.store, id, plan, access.caller)
    return await access.store.read(lambda tx: boards.get(tx, id)), laid


async def _created(access: Access, file: PlanFile, target: str) -> BoardId:
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


def _file(project: Project, target: str) -> Path:
    if "/" in target or target.endswith(_SUFFIXES) or Path(target).exists():
        return Path(target)
    shelf = project.root / PEOPLE_FOLDER / FOLDER
    file = shelf / f"{target}.yaml"
    if not file.exists():
        raise PlanNotFound(f"There is no plan {target[:80]!r} in {PEOPLE_FOLDER}/{FOLDER}.", _hint(target, shelf))
    return file


def _hint(target: str, shelf: Path) -> str:
    near = nearest.near_file(Path(target), _SUFFIXES)
    if near is None and (saved := nearest.near_file(shelf / target, (".yaml",))) is not None:
        near = Path(saved).stem
    return "Write the path of a file, or the name of a plan there." if near is None else f"Did you mean `{near}`?"


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
    file = access.project.root / PEOPLE_FOLDER / FOLDER / f"{name}.yaml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(f"{json.pretty(said)}\n")  # JSON is YAML, too
    except FileExistsError as error:
        raise PlanSaved(f"{file} is there already.", "Choose another name, or remove it.") from error
    except OSError as error:
        raise FileRefused(f"{file} cannot be written: {error.strerror}.", "Check who may write there.") from error
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
