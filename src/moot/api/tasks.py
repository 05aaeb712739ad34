"""Working on tasks from a terminal, by the same tools that agents use."""

from collections.abc import Mapping, Sequence
from typing import Any

from moot.api import plans
from moot.api.access import Access
from moot.board import checks
from moot.board.checks import Check
from moot.board.tasks import Task
from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json
from moot.core.records import record
from moot.tools import dispatch
from moot.tools.groups import Acting

_OVER = ("completed", "failed", "skipped", "verifying")


class TaskRefused(MootError):
    """Somebody else has it, or it is not ready."""

    code = "TASK_REFUSED"


class Refused(MootError):
    """What a tool has answered instead of a result."""

    def __init__(self, code: str, fact: str, remedy: str) -> None:
        super().__init__(fact, remedy)
        self.code = code  # pyright: ignore[reportAttributeAccessIssue]  # each of them has that of its tool


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


@record
class Deed:
    """What is done to a task, by the tool for it."""

    tool: Acting
    key: str  # under which the tool is told the task
    arguments: Mapping[str, Json]
    claims: bool = False  # it is claimed first, if nobody holds it


def claiming() -> Deed:
    return Deed("task_claim", "task_id", {})


def releasing(reason: str = "") -> Deed:
    return Deed("task_release", "task_id", {"reason": reason})


def completing(outcome: str) -> Deed:
    return _ending("outcome", outcome, "completed")


def failing(error: str) -> Deed:
    return _ending("error", error, "failed")


def skipping(reason: str = "") -> Deed:
    return Deed("task_update_status", "id", {"status": "skipped", "reason": reason})


def retrying() -> Deed:
    return Deed("task_update_status", "id", {"status": "pending"})


def _ending(name: str, words: str, status: str) -> Deed:
    if not words.strip():  # before anything is claimed for it
        raise InvalidInput(f"The {name} is empty.", "Say it in a few words.")
    return Deed("task_update_status", "id", {"status": status, name: words}, claims=True)


async def do(access: Access, deed: Deed, target: str, plan: str | None = None) -> tuple[Task, Mapping[str, Any]]:
    """The task as it was found, by its id or its name in a plan, and what the tool has answered."""
    found = await plans.find_task(access, target, plan)
    if deed.claims and found.status not in _OVER:
        await claim(access, found)
    return found, await act(access, deed.tool, **{deed.key: found.id}, **deed.arguments)


def why(refusal: Mapping[str, Any]) -> str:
    """Why a task was not claimed."""
    waits: Sequence[str] = refusal.get("waiting_on", ())
    return f"It waits for {', '.join(waits)}." if waits else refusal["reason"]


async def whole(access: Access, task: Task) -> tuple[dict[str, Any], list[Check]]:
    """All there is to know of a task."""
    card = await act(access, "task_get", id=task.id)
    needs = await act(access, "task_check_dependencies", id=task.id)
    noted = await act(access, "checkpoint_list", task_id=task.id)
    checked = await access.store.read(lambda tx: checks.latest(tx, task.id))
    around = {"dependencies": needs["dependencies"], "dependants": needs["dependants"]}
    return {**card, **around, "checkpoints": noted["checkpoints"]}, checked
