"""Merging: one worker brings the branches of the others into its own, and git says whether they are all there.

What is pushed, if anything, is that branch. Nothing is merged into what a person has checked out.
"""

from collections.abc import Sequence

from moot.board import laying, tasks
from moot.board.plans import Planned
from moot.board.tasks import Task
from moot.core.tx import Tx
from moot.requests import requests
from moot.runner.teams import notices, situation, working
from moot.runner.teams.situation import Situation
from moot.teams import marks, teams
from moot.tools import agreement, asking, isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace

_MOST_TRIES = 3
_TRIES, _PUSH = "merge", "push"  # the names of marks


def merge(tx: Tx, now: Situation) -> bool:
    """Done, once git has everything on one branch, and that is pushed if it is to be."""
    spaces = situation.spaces(tx, now)
    if not spaces:
        return _done(tx, now)
    target = next((one for one in spaces if now.is_started(one.created_name)), spaces[0])
    merger = target.created_name
    left = [one for one in spaces if one.id != target.id and not one.is_closed]
    if left:
        return _bring_together(tx, now, merger, target, left)
    if not now.is_quiet([merger]) or now.has_work or target.wanted:
        return False
    if now.team.pushes and marks.count(tx, now.team, _PUSH) == 0:
        marks.add(tx, now.team, _PUSH)
        isolation.ask(tx, target.id, "push")
        return False
    if now.team.pushes and target.error is not None:
        return teams.move(tx, now.team, "failed", f"it could not be pushed: {target.error}")
    pushed = " and pushed" if now.team.pushes else ""
    notices.announce(tx, now, f"merged: everything is on {target.branch}{pushed}")
    return _done(tx, now)


def _done(tx: Tx, now: Situation) -> bool:
    """What members were asked, nobody answers any more."""
    members = {one.id for one in now.members.values() if one.backend != "human"}
    for one in requests.open_of(tx, now.run.stream):
        if one.addressee_id in members:
            asking.drop(tx, one.id)
    return teams.move(tx, now.team, "done")


def _bring_together(tx: Tx, now: Situation, merger: str, target: Workspace, left: Sequence[Workspace]) -> bool:
    tries = marks.count(tx, now.team, _TRIES)
    task = tasks.named(tx, now.board.id, _name(tries)) if tries else None
    if task is None:
        return _give(tx, now, merger, target, left)
    if task.status not in ("completed", "skipped", "failed"):
        if now.is_all_quiet:
            working.stir(tx, now, task)
        return False
    if not now.is_quiet([merger]) or now.has_work or any(one.wanted for one in left):
        return False
    if task.status != "failed":
        unasked = [one for one in left if marks.add(tx, now.team, f"{one.id}:{task.id}") == 1]
        for one in unasked:
            isolation.ask(tx, one.id, "merge")
        if unasked:
            return False
    if tries >= _MOST_TRIES:
        return teams.move(tx, now.team, "failed", f"{merger} could not merge: {_why(task, left)}")
    return _give(tx, now, merger, target, left, _why(task, left))


def _give(tx: Tx, now: Situation, merger: str, target: Workspace, left: Sequence[Workspace], why: str = "") -> bool:
    """The task of merging, to the worker whose branch everything comes to."""
    name = _name(marks.add(tx, now.team, _TRIES))
    for one in left:
        workspaces.lead_to(tx, one.id, target.branch)
    laying.add_tasks(tx, now.board.id, [Planned(name, _described(target, left, why), assigned=merger)])
    task = agreement.add_own(tx, now.team, name)
    for one in left:
        workspaces.attach(tx, one.id, [task.id])
    return False


def _name(number: int) -> str:
    return "merge" if number == 1 else f"merge, try {number}"


def _described(target: Workspace, left: Sequence[Workspace], why: str) -> str:
    listed = [f"- {one.created_name}: workspace_merge {one.id}, or git merge {one.branch}" for one in left]
    return "\n".join(
        [
            f"Bring the work of the others into your branch {target.branch}, in your worktree:",
            *listed,
            "Where both have changed the same, solve it in your worktree and commit it.",
            "Then see that everything holds together, and mend what does not: run the tests. Do not push.",
            *([f"The last try did not succeed: {why}"] if why else []),
        ]
    )


def _why(task: Task, left: Sequence[Workspace]) -> str:
    if task.status == "failed":
        return task.error or "it failed"
    return "; ".join(str(one.error) if one.error else f"{one.branch} is not merged" for one in left)
