"""A flow that does several things at once: the strands of its tasks, how many at a time, and what they come to.

Whoever does not wait for its tasks leaves a detached strand behind, which does that and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from moot.core.json import Json
from moot.core.records import record, replace
from moot.engine import frames as positions
from moot.engine.flow.delta import Delta, Live, room
from moot.engine.flow.strands import TASKS, Strand, moved
from moot.engine.frames import CLEANUP, TASK, Frames
from moot.engine.scope import Scope
from moot.engine.step import Outcome, Work

AGENT = "$agent"  # among what a strand knows: after whom its agents are made
_GIVEN_UP = "Another task has failed."
Task = Mapping[str, Json]


@record
class Fork:
    """`waiting` is the strand that waits for the tasks: the parent, or one that was detached from it."""

    waiting: Strand
    tasks: tuple[Strand, ...]


def opened(live: Live, parent: Strand, work: Work) -> Fork:
    """A strand for each task. `parent` is at the step that has them."""
    fork, number = live.flow.version + 1, live.next_number
    named = replace(work, definition={**work.definition, "tasks": _renamed(live, _tasks(work))})
    waiting = replace(parent, status="forked", work=named, since=fork)
    if not work.definition.get("wait_for_all", True):
        waiting = replace(waiting, number=number, parent=parent.number, fork=fork, task_id="", holder=None)
        number += 1
    depth = Scope.at(live.definition, parent.frames, {}, {}).depth
    own = {AGENT: work.definition["agent"]} if "agent" in work.definition else dict[str, Json]()
    children = [
        Strand(
            live.flow.id,
            at,
            waiting.number,
            fork,
            str(one["task_id"]),
            (*parent.frames[:depth], positions.rooted(TASK, str(work.definition["sub_agent_task"]), at)),
            status="ready",
            own={**cast(Task, one["context"]), **own},
            since=fork,
            seen_step=live.flow.last_step,
        )
        for at, one in enumerate(_tasks(named), number)
    ]
    return Fork(waiting, tuple(children))


def _renamed(live: Live, tasks: Sequence[Task]) -> list[Json]:
    """No two that are under way are called the same: who comes for a task says its name only."""
    taken = {one.task_id for one in live.others}
    if not taken:
        return [*tasks]
    found: list[Json] = []
    for one in tasks:
        name = id = str(one["task_id"])
        count = 1
        while id in taken:
            count += 1
            id = f"{name}~{count}"
        taken.add(id)
        found.append({"task_id": id, "context": {**cast(Task, one["context"]), "task_id": id}})
    return found


def begun(live: Live) -> Delta | None:
    """Let as many go on as may at once; None if no more can. Where an agent drives, it begins them itself."""
    if live.flow.driver != "moot":
        return None
    families = live.families
    for parent in live.strands.values():
        if parent.status != "forked" or parent.work is None:
            continue
        children = families.get((parent.number, parent.since), [])
        ready = [one for one in children if one.status == "ready"][: room(parent.work, children)]
        if ready:
            return Delta(strands=tuple(replace(one, status="moving") for one in ready))
    return None


def ended(live: Live) -> tuple[Strand, Outcome] | None:
    """A strand whose tasks are done, and what they have come to; None if there is none."""
    forked = [one for one in live.strands.values() if one.status == "forked"]
    families = live.families if forked else {}
    for parent in forked:
        found = outcome(parent, families.get((parent.number, parent.since), []))
        if found is not None:
            return parent, found
    return None


def outcome(parent: Strand, children: Sequence[Strand]) -> Outcome | None:
    """What the tasks of a strand have come to; None while some are under way."""
    failed: dict[str, Json] = {one.task_id: one.error for one in children if one.status == "failed"}
    is_lost = bool(failed) and _strategy(parent) == "fail_all"
    if not is_lost and not all(one.is_over for one in children):
        return None
    results: dict[str, Json] = {one.task_id: "done" for one in children if one.status == "done"}
    error = "; ".join(f"{task}: {why}" for task, why in failed.items())
    return Outcome("failed" if failed else "success", {"results": results, "failed": failed}, error)


def given_up(live: Live, parent: Strand) -> list[Strand]:
    """The tasks of a strand that nobody waits for any more, and all that belongs to them."""
    found = [one for one in live.children(parent) if not one.is_over]
    return [over(one, _GIVEN_UP) for one in _with_all_below(live, found)]


def belonging(live: Live, strand: Strand) -> list[Strand]:
    """Everything that a strand has begun, which is over with it."""
    return [over(one, _GIVEN_UP) for one in _with_all_below(live, [strand])[1:]]


def _with_all_below(live: Live, above: Sequence[Strand]) -> list[Strand]:
    begun: dict[int | None, list[Strand]] = {}
    for one in live.others:
        begun.setdefault(one.parent, []).append(one)
    found = [*above]
    for one in found:  # which grows on the way
        found += begun.get(one.number, ())
    return found


def retried(live: Live, strand: Strand, error: str) -> Strand:
    """A task that has failed, from its beginning if it may try again."""
    parent = None if strand.parent is None else live.strands.get(strand.parent)
    if parent is None or parent.work is None or _strategy(parent) != "retry_failed":
        return over(strand, error)
    if strand.retries >= int(cast(int, parent.work.definition.get("max_retries", 0))):
        return over(strand, error)
    return replace(anew(parent.work, strand), retries=strand.retries + 1)


def anew(work: Work, strand: Strand) -> Strand:
    """From its beginning, for whoever comes for it; `work` has the task."""
    context = next(cast(Task, one["context"]) for one in _tasks(work) if str(one["task_id"]) == strand.task_id)
    own = {name: value for name, value in strand.own.items() if name == AGENT}
    return replace(moved(strand, _begin(strand)), status="ready", own={**context, **own}, error="", holder=None)


def cleaning(strand: Strand) -> Frames:
    """Where it cleans up after its task."""
    return (*strand.frames[: positions.root(strand.frames)], positions.rooted(CLEANUP, _name(strand), strand.number))


def over(strand: Strand, error: str) -> Strand:
    """It has failed. Who waits for tasks keeps them, for those who go on with the flow. By the id of its work is known
    that it had come to any."""
    if strand.work is not None and strand.work.type == TASKS:
        return replace(strand, status="failed", error=error)
    return replace(moved(strand, strand.frames), status="failed", error=error, step_id=strand.step_id)


def _begin(strand: Strand) -> Frames:
    return (*strand.frames[: positions.root(strand.frames)], positions.rooted(TASK, _name(strand), strand.number))


def _name(strand: Strand) -> str:
    return positions.plain(strand.frames[positions.root(strand.frames)].block).partition("/")[2]


def _tasks(work: Work) -> Sequence[Task]:
    return cast(Sequence[Task], work.definition["tasks"])


def _strategy(parent: Strand) -> str:
    return "fail_all" if parent.work is None else str(parent.work.definition.get("strategy", "fail_all"))
