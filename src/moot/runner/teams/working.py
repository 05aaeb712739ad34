"""Working: tasks are done and handed off, the other workers hear of it, and whoever is stuck is asked to go on."""

from moot.board import progress, tasks
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.core import text
from moot.core.tx import Tx
from moot.registry import agents
from moot.runner import handing_out
from moot.runner.teams import notices, planning, situation, waiting
from moot.runner.teams.situation import Situation
from moot.teams import handoffs, marks, teams

_MOST_NUDGES = 2  # for one task, until it has failed


def work(tx: Tx, now: Situation) -> bool:
    """On to reviewing, once all is done and no worker has anything left to read."""
    _share(tx, now)
    if (said := planning.agree(tx, now)) != "agreed":  # the lead has changed it
        return said == "given up"
    if now.board.status == "completed":
        return now.is_quiet(now.team.workers) and not now.has_work and teams.move(tx, now.team, "reviewing")
    if _tell_of_failures(tx, now):
        return False
    if now.board.status == "failed":
        if not now.is_all_quiet or not now.is_started(now.team.lead):
            return False
        names = ", ".join(one.name for one in situation.failed_tasks(tx, now))
        return teams.move(tx, now.team, "failed", f"{names} failed; try again with: moot retry, then moot resume")
    return now.is_all_quiet and _stir(tx, now)


def _share(tx: Tx, now: Situation) -> None:
    """What came of a task, with the other workers: they find it, and are not woken."""
    known = marks.names(tx, now.team)
    for one in situation.ended_tasks(tx, now):
        if one.done_by is None or f"shared:{one.id}" in known:
            continue
        marks.add(tx, now.team, f"shared:{one.id}")
        doer = agents.get(tx, one.done_by)
        others = [name for name in now.team.workers if name != doer.name]
        if others:
            notices.share(tx, now, doer, f"peer-sync: {one.name}: {one.outcome}", others)


def _tell_of_failures(tx: Tx, now: Situation) -> bool:
    """The lead, once each: it can plan anew."""
    known = marks.names(tx, now.team)
    new = {f"failed:{one.id}:{one.fence}": one for one in situation.failed_tasks(tx, now)}
    for name, one in new.items():
        if name in known:
            continue
        marks.add(tx, now.team, name)
        notices.tell(tx, now, (now.team.lead,), _failed(now, one), "blocker", one.id)
    return not known.issuperset(new)


def _failed(now: Situation, one: Task) -> str:
    told = (
        f"The task {one.name!r} ({one.id}) has failed: {text.shortened(one.error or '', 2000)}\n\n"
        "Decide how it goes on: have it tried again (task_update_status with pending), leave it out (skipped), or "
        "plan anew (workflow_set_plan)."
    )
    if now.is_started(now.team.lead):
        return f"{told} If you just end, the work ends here."
    command = f"moot task retry {one.id} --instance {now.team.instance}"
    return (
        f"{told}\nAt a terminal type /plan FILE; or in another one: {command}, or the same with skip in place of retry."
    )


def _stir(tx: Tx, now: Situation) -> bool:
    """Nobody does anything, and tasks are in hand: who holds them ended its turn without a hand-off."""
    held = [one for one in situation.held_tasks(tx, now) if one.status != "verifying"]
    for one in held:
        stir(tx, now, one)
    if held or not tasks.available(tx, now.board.id, 1):
        return False
    if marks.add(tx, now.team, f"stirred:{now.team.round}") == 1:
        handing_out.add(tx, now.board.id)
        return False
    return teams.move(tx, now.team, "failed", "tasks are left that nobody here can do")


def stir(tx: Tx, now: Situation, task: Task) -> None:
    """Nobody does anything: ask the holder for the end of its task, unless it waits for an answer of the lead."""
    if task.holder is None or not waiting.is_for_answer(tx, now, agents.get(tx, task.holder).name):
        nudge(tx, now, task)


def nudge(tx: Tx, now: Situation, task: Task) -> None:
    """Ask the holder for the end of its task; after some times it counts as failed."""
    if task.holder is None or task.lease_until is not None:
        return
    holder = agents.get(tx, task.holder)
    if not holder.is_started_by_moot:
        return
    if marks.add(tx, now.team, f"nudged:{task.id}") > _MOST_NUDGES:
        error = f"{holder.name} has ended its turn {_MOST_NUDGES + 1} times without a hand-off."
        progress.fail(tx, tasks.locked(tx, task.id), Result(error=error, by=holder.id))
        return
    body = (
        f"[TASK:{task.id}] {task.name}\n\nIt is still yours, and there was no hand-off. Go on with it; if you wait for "
        "an answer that does not come, choose the best way around it. End it with task_update_status: completed, with "
        f"an outcome in this form: {handoffs.TEMPLATE}. Or failed, with the error."
    )
    notices.tell(tx, now, (holder.name,), body, "task", task.id)
