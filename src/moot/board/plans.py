"""Plans as they are given: tasks by name, what each needs, and whether that can be carried out at all."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import Literal

from moot.board import evidence
from moot.board.errors import PlanRefused
from moot.core import nearest
from moot.core.json import Json
from moot.core.records import record

Kind = Literal["blocks", "informs"]
Complexity = Literal["low", "medium", "high"]
MOST_TASKS = 1_000_000
MOST_NEEDS = 1000  # of one task
_LOOKED_THROUGH = 1000  # names, for one that may have been meant


@record
class Need:
    """Another task that has to be done first, or whose outcome is only good to know."""

    name: str
    kind: Kind = "blocks"


@record
class Planned:
    """A task as it is planned."""

    name: str
    description: str = ""
    needs: tuple[Need, ...] = ()
    sequence: int | None = None
    parallel_group: str | None = None
    complexity: Complexity | None = None
    assigned: str | None = None  # the only agent who may claim it
    capabilities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Json], ...] = ()


@record
class Plan:
    summary: str = ""
    approach: str = ""
    tasks: tuple[Planned, ...] = ()
    risks: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def words(self) -> Mapping[str, Json]:
        """What it says beside its tasks."""
        said: dict[str, Json] = {"summary": self.summary, "approach": self.approach}
        return said | {"risks": list(self.risks), "assumptions": list(self.assumptions)}


def fold(name: str) -> str:
    """Two names with the same folded form are the same name."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()


def assignee(written: str | None) -> str | None:
    """Who alone may do a task; people also write it as a mention."""
    return (written or "").removeprefix("@") or None


@record
class Checked:
    """Tasks of which each has a name of its own, needs what is there, and none waits for itself."""

    tasks: tuple[Planned, ...]
    edges: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict[str, Mapping[str, Kind]])  # by folded names


def check(tasks: Sequence[Planned], there: Iterable[str] = ()) -> Checked:
    """PlanRefused if this cannot be carried out beside the tasks that are there, given by their names."""
    known = {fold(name): name for name in there}
    if len(tasks) + len(known) > MOST_TASKS:
        raise PlanRefused(f"A plan has at most {MOST_TASKS:,} tasks.", "Split it into several workflows.")
    for task in tasks:
        _add_name(known, task.name)
        for words in task.checks:
            evidence.parse(words)
    edges = {fold(task.name): _needs(task, known) for task in tasks}
    if cycle := find_cycle(edges):
        raise PlanRefused(
            f"Tasks wait for each other: {' → '.join(known[one] for one in cycle)}.", "Take one of these needs away."
        )
    return Checked(tuple(tasks), edges)


def _add_name(known: dict[str, str], name: str) -> None:
    folded = fold(name)
    if not name.strip() or len(name.splitlines()) != 1:
        raise PlanRefused(f"{name[:80]!r} is no name for a task.", "Use one line with something in it.")
    if folded in known:
        raise PlanRefused(f"Two tasks are named {name[:80]!r}.", "Give each a name of its own.")
    known[folded] = name


def _needs(task: Planned, known: Mapping[str, str]) -> Mapping[str, Kind]:
    if len(task.needs) > MOST_NEEDS:
        raise PlanRefused(f"The task {task.name!r} needs {len(task.needs):,} others; at most {MOST_NEEDS:,} will do.")
    found: dict[str, Kind] = {}
    for need in task.needs:
        folded = fold(need.name)
        if folded not in known:
            raise PlanRefused(
                f"The task {task.name!r} needs {need.name[:80]!r}, which is not in the plan.",
                _near(need.name, known.values()),
            )
        if folded == fold(task.name):
            raise PlanRefused(f"The task {task.name!r} needs itself.", "Take that need away.")
        if folded not in found or need.kind == "blocks":
            found[folded] = need.kind
    return found


def _near(name: str, known: Iterable[str]) -> str:
    near = nearest.nearest(name, islice(known, _LOOKED_THROUGH))
    return f"Did you mean `{near}`?" if near else "Name a task of this plan."


def find_cycle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """The names of one circle, the first again at the end; none if there is no circle. Without recursion: a chain may
    be as long as a plan."""
    done: set[str] = set()
    for start in edges:
        if start not in done and (found := _circle_from(start, edges, done)):
            return found
    return []


def _circle_from(start: str, edges: Mapping[str, Iterable[str]], done: set[str]) -> list[str]:
    path: dict[str, Iterator[str]] = {start: iter(edges[start])}
    while path:
        name = next(reversed(path))
        following = next((one for one in path[name] if one not in done), None)
        if following is None:
            done.add(name)
            del path[name]
        elif following in path:
            names = list(path)
            return [*names[names.index(following) :], following]
        else:
            path[following] = iter(edges.get(following, ()))
    return []
