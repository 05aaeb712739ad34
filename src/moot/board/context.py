"""What somebody needs to know who begins with a task or takes it up again, in as many tokens as there are for it.

The most relevant comes first: the task itself, what it needs, what was last noted of it, the plan, what came of others.
What does not fit is left out and said so. The order of what is told never changes, and lists grow at their end, so
that what a model has read before is found in its cache.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from moot.board import boards, checkpoints, tasks
from moot.board.boards import Board
from moot.board.checkpoints import Checkpoint
from moot.board.tasks import Edge, Task
from moot.core import clock, json
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx

T = TypeVar("T")
DEFAULT_TOKENS = 8000
RECENT = 5
_BYTES_A_TOKEN = 3  # English has more, code and other scripts have less
_PAGE = 50
_AROUND = 25  # tasks before and after this one, of a plan that is long
_CUT = " […]"


@record
class Include:
    """What is asked for."""

    workflow_plan: bool = True
    prior_task_outcomes: bool = True
    dependency_outcomes: bool = True
    siblings: bool = True
    recent_checkpoints: int = RECENT
    all_checkpoints: bool = False


@record
class Context:
    workflow: Mapping[str, Json]
    current_task: Mapping[str, Json]
    dependency_outcomes: list[Json]
    prior_tasks: list[Json]
    siblings: list[Json]
    cut: tuple[str, ...]  # what is not told for want of room
    tokens: int  # about as many are used


class _Room:
    """How many tokens are left, and what was cut because of it."""

    def __init__(self, tokens: int) -> None:
        self._all = self.left = tokens
        self.cut: list[str] = []

    @property
    def used(self) -> int:
        return self._all - self.left

    def take(self, told: Json) -> bool:
        """Whether there is room for it; then there is less."""
        needed = size(json.dumps(told))
        if needed > self.left:
            return False
        self.left -= needed
        return True

    def clip(self, text: str, what: str, share: float = 0.25) -> str:
        """The beginning of a text that takes more than its share of what is left."""
        most = int(self.left * share) * _BYTES_A_TOKEN
        if len(text.encode()) <= most:
            return text
        self.cut.append(f"{what}: only its beginning")
        return text.encode()[:most].decode(errors="ignore") + _CUT

    def fill(self, found: Iterable[T], told: Callable[[T], Json]) -> list[Json]:
        """As many as there is room for, in the order of what is most wanted."""
        kept: list[Json] = []
        for one in found:
            line = told(one)
            if not self.take(line):
                break
            kept.append(line)
        return kept


def load(tx: ReadTx, task: Task, include: Include, max_tokens: int = DEFAULT_TOKENS) -> Context:
    board = boards.get(tx, task.board)
    room = _Room(max_tokens)
    current = _current(task, room)
    workflow = _workflow(board, room)
    needed = _needed(tx, task, room) if include.dependency_outcomes else []
    noted = _noted(tx, task, include, room)
    planned = _planned(tx, task, room) if include.workflow_plan else []
    prior = _prior(tx, task, room) if include.prior_task_outcomes else []
    beside = _beside(tx, task, room) if include.siblings else []
    return Context(
        workflow | ({"tasks": planned} if include.workflow_plan else {}),
        current | {"checkpoints": noted},
        needed,
        prior,
        beside,
        tuple(room.cut),
        room.used,
    )


def _current(task: Task, room: _Room) -> dict[str, Json]:
    told: dict[str, Json] = {
        "id": task.id,
        "name": task.name,
        "status": task.status,
        "description": room.clip(task.description, "the description of the task", 0.5),
        "files_likely_affected": list(task.files),
        "checks": list(task.checks),
        "plan": _fitting(dict(task.plan), "the plan of the task", room),
        "context": _fitting(dict(task.context), "the context of the task", room),
    }
    if task.error:
        told["error"] = room.clip(task.error, "the error of the last try")
    room.take(told)
    return told


def _fitting(words: Json, what: str, room: _Room) -> Json:
    written = json.dumps(words)
    clipped = room.clip(written, what)
    return words if clipped == written else clipped


def _workflow(board: Board, room: _Room) -> dict[str, Json]:
    told: dict[str, Json] = {"id": board.id, "name": board.name, "status": board.status}
    for key in ("summary", "approach"):
        told[key] = room.clip(str(board.plan.get(key, "")), f"the {key} of the workflow")
    for key in ("risks", "assumptions"):
        told[key] = _fitting(board.plan.get(key, []), f"the {key} of the workflow", room)
    room.take(told)
    return told


def _needed(tx: ReadTx, task: Task, room: _Room) -> list[Json]:
    found = tasks.needs(tx, task.id, 1000)
    kept = room.fill(found, lambda edge: _edge(edge, room))
    _say_cut(room, "dependencies", len(kept), len(found))
    return kept


def _edge(edge: Edge, room: _Room) -> Json:
    told: dict[str, Json] = {"id": edge.id, "name": edge.name, "type": edge.kind, "status": edge.status}
    if edge.outcome:
        told["outcome"] = room.clip(edge.outcome, f"the outcome of {edge.name}")
    if edge.error and edge.status == "failed":
        told["error"] = room.clip(edge.error, f"the error of {edge.name}")
    return told


def _noted(tx: ReadTx, task: Task, include: Include, room: _Room) -> list[Json]:
    there = checkpoints.count(tx, task.id)
    wanted = there if include.all_checkpoints else min(include.recent_checkpoints, there)
    kept = room.fill(_backwards(tx, task, wanted), lambda one: _checkpoint(one, room))
    _say_cut(room, "checkpoints", len(kept), wanted)
    return kept[::-1]


def _backwards(tx: ReadTx, task: Task, wanted: int) -> Iterator[Checkpoint]:
    """The newest checkpoints first, read in pages: who has no room for more asks for no more."""
    before = checkpoints.ENDLESS
    while wanted > 0:
        page = checkpoints.latest(tx, task.id, min(_PAGE, wanted), before)
        yield from page
        wanted = wanted - len(page) if page else 0
        before = page[-1].number if page else 0


def _checkpoint(one: Checkpoint, room: _Room) -> Json:
    return {
        "number": one.number,
        "type": one.type,
        "summary": room.clip(one.summary, f"checkpoint {one.number}"),
        "detail": _fitting(dict(one.detail), f"the detail of checkpoint {one.number}", room),
        "files_changed": list(one.files),
        "at": clock.to_iso(one.at),
    }


def _planned(tx: ReadTx, task: Task, room: _Room) -> list[Json]:
    """The plan by names; of a long one what is around this task."""
    first = max(task.rank - _AROUND, 0)
    found = tasks.page(tx, task.board, after=first - 1, limit=2 * _AROUND + 1)
    kept = room.fill(found, lambda one: {"name": one.name, "status": one.status})
    if first > 0 or len(found) > 2 * _AROUND or len(kept) < len(found):
        room.cut.append("the plan: only what is around this task; see workflow_get for the rest")
    return kept


def _prior(tx: ReadTx, task: Task, room: _Room) -> list[Json]:
    """What came of others, the last ones as far as there is room; told in the order they ended."""
    needed = {edge.id for edge in tasks.needs(tx, task.id, 1000)}
    others = (one for one in _ended(tx, task) if one.id not in needed)
    kept: list[Json] = []
    for one in others:
        line: Json = {
            "name": one.name,
            "status": one.status,
            "outcome": room.clip(one.outcome or "", f"the outcome of {one.name}"),
        }
        if not room.take(line):
            room.cut.append("prior tasks: only the last ones")
            break
        kept.append(line)
    return kept[::-1]


def _ended(tx: ReadTx, task: Task) -> Iterator[Task]:
    page = tasks.finished(tx, task.board, _PAGE)
    while page:
        yield from page
        page = tasks.finished(tx, task.board, _PAGE, page[-1])


def _beside(tx: ReadTx, task: Task, room: _Room) -> list[Json]:
    found = tasks.group(tx, task)
    kept = room.fill(found, lambda one: {"name": one.name, "status": one.status, "holder": one.holder})
    _say_cut(room, "tasks beside this one", len(kept), len(found))
    return kept


def _say_cut(room: _Room, what: str, kept: int, there: int) -> None:
    if kept < there:
        room.cut.append(f"{what}: {there - kept:,} of {there:,}")


def size(text: str) -> int:
    """About as many tokens."""
    return len(text.encode()) // _BYTES_A_TOKEN + 1
