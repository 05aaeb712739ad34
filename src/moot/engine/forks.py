"""A flow that does several things at once: the strands of its tasks, how many at a time, and what they come to."""

from collections.abc import Mapping, Sequence
from typing import cast

from moot.core.json import Json
from moot.core.records import replace
from moot.engine.definition import root_of_task
from moot.engine.delta import Delta, Live
from moot.engine.frames import Frame
from moot.engine.step import Outcome, Work
from moot.engine.strands import Strand, moved

TASKS = "parallel_tasks"


def opened(live: Live, parent: Strand, work: Work) -> list[Strand]:
    """A strand for each task. The parent waits for them, unless nobody is to wait."""
    said = work.definition
    task = str(said["sub_agent_task"])
    fork = live.flow.version + 1
    tasks = cast(Sequence[Mapping[str, Json]], said["tasks"])
    return [
        Strand(
            live.flow.id,
            number,
            parent.number,
            fork,
            str(one["task_id"]),
            (Frame(root_of_task(task, number)),),
            status="ready",
            own=cast(Mapping[str, Json], one["context"]),
            since=fork,
        )
        for number, one in enumerate(tasks, live.next_number)
    ]


def begun(live: Live) -> Delta | None:
    """Let as many go on as may at once; None if no more can. Where an agent drives, it begins them itself."""
    if live.flow.driver != "moot":
        return None
    for parent in live.strands.values():
        if parent.work is None or parent.work.type != TASKS:
            continue
        ready = [one for one in live.children(parent) if one.status == "ready"][: live.room(parent)]
        if ready:
            return Delta(strands=tuple(replace(one, status="moving") for one in ready))
    return None


def outcome(live: Live, parent: Strand) -> Outcome | None:
    """What the tasks of a strand have come to; None while some are under way."""
    children = live.children(parent)
    failed: dict[str, Json] = {one.task_id: one.error for one in children if one.status == "failed"}
    is_lost = bool(failed) and _strategy(parent) == "fail_all"
    if not is_lost and not all(one.is_over for one in children):
        return None
    results: dict[str, Json] = {one.task_id: "done" for one in children if one.status == "done"}
    error = "; ".join(f"{task}: {why}" for task, why in failed.items())
    return Outcome("failed" if failed else "success", {"results": results, "failed": failed}, error)


def given_up(live: Live, parent: Strand) -> list[Strand]:
    """The tasks that nobody waits for any more, because another has failed."""
    error = "Another task has failed."
    return [_over(one, error) for one in live.children(parent) if not one.is_over]


def retried(live: Live, strand: Strand, error: str) -> Strand:
    """A task that has failed, from its beginning if it may try again."""
    parent = None if strand.parent is None else live.strands.get(strand.parent)
    most = 0
    if parent is not None and _strategy(parent) == "retry_failed":
        most = int(cast(int, _said(parent).get("max_retries", 0)))
    if parent is None or strand.retries >= most:
        return _over(strand, error)
    assert parent.work is not None
    context = next(
        cast(Mapping[str, Json], one["context"])
        for one in cast(Sequence[Mapping[str, Json]], parent.work.definition["tasks"])
        if str(one["task_id"]) == strand.task_id
    )
    root = root_of_task(str(parent.work.definition["sub_agent_task"]), strand.number)
    begin = moved(strand, (Frame(root),))
    return replace(begin, status="ready", own=context, error="", retries=strand.retries + 1)


def _over(strand: Strand, error: str) -> Strand:
    return replace(moved(strand, strand.frames), status="failed", error=error)


def _strategy(parent: Strand) -> str:
    return str(_said(parent).get("strategy", "fail_all"))


def _said(parent: Strand) -> Mapping[str, Json]:
    return {} if parent.work is None else parent.work.definition
