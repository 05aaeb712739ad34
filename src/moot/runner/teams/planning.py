"""Planning and delegating: the lead makes the plan, a person may have to agree to it, and then it is handed out."""

import hashlib

from moot.board import laying, tasks
from moot.board.plans import Plan, Planned
from moot.board.states import OPEN_BOARDS
from moot.board.tasks import Task
from moot.core import json, text
from moot.core.tx import ReadTx, Tx
from moot.registry.agents import PERSON
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import handing_out
from moot.runner.teams import notices
from moot.runner.teams.situation import Situation
from moot.teams import marks, teams
from moot.teams.teams import Team
from moot.tools import asking
from moot.tools.asking import Question

_MOST_TASKS = 1000  # that are shown to who approves a plan


def plan(tx: Tx, now: Situation) -> bool:
    """On to delegating, once there is a plan and everybody agrees who has to."""
    is_started = now.is_started(now.team.lead)
    if is_started and not now.is_quiet([now.team.lead]):
        return False  # its turn is not over, and it may think better of it
    if now.board.status not in OPEN_BOARDS:
        if not is_started or now.board.status != "planning":
            return False
        laying.set_plan(tx, now.board.id, for_everybody(now.team))
        return True
    found = _agreement(tx, now)
    if found is None or found.state == "approved":
        teams.move(tx, now.team, "delegating")
        notices.announce(tx, now, _told(tx, now))
        handing_out.add(tx, now.board.id)
        return True
    if found.is_open:
        return False
    if marks.add(tx, now.team, f"denied:{found.id}") == 1:
        why = f": {found.answer}" if found.answer else "."
        notices.tell(tx, now, (now.team.lead,), f"{found.addressee} has denied the plan{why}\n\nMake another one.")
        return False
    return is_started and teams.move(tx, now.team, "failed", "the plan was denied, and the lead has made no other")


def delegate(tx: Tx, now: Situation) -> bool:
    """On to working, once somebody has something in hand."""
    if tasks.at_work(tx, now.board.id) or now.board.status == "completed":
        return teams.move(tx, now.team, "working")
    if now.is_all_quiet:
        reason = f"nobody can begin with the plan: {', '.join(one.name for one in _listed(tx, now)[:5])}"
        return teams.move(tx, now.team, "failed", reason)
    return False


def for_everybody(team: Team) -> Plan:
    """The lead has made no plan: each worker gets the whole goal, and is told who else works on it."""
    others = {name: ", ".join(one for one in team.workers if one != name) for name in team.workers}
    planned = tuple(
        Planned(f"goal for {name}", _whole_goal(team.goal, others[name]), assigned=name) for name in team.workers
    )
    return Plan(summary=text.shortened(team.goal, 200), tasks=planned)


def _whole_goal(goal: str, others: str) -> str:
    beside = f"{others} got the same: agree with them first, in a message or two, who does which part of it."
    return "\n\n".join(part for part in (goal, beside if others else "") if part)


def _agreement(tx: Tx, now: Situation) -> Request | None:
    """What the person says to exactly this plan; None if nobody has to be asked."""
    if not now.team.asks_for_plan or now.lead.backend == "human":
        return None
    hash = _hash(tx, now)
    found = requests.about(tx, now.run.stream, hash)
    if found is not None:
        return found
    for one in _asked(tx, now):  # of a plan that was changed meanwhile
        asking.cancel(tx, now.instance, one.id, None, is_operator=True)
    title = f"Approve the plan of {now.team.instance}: {text.shortened(now.team.goal, 120)}"
    return asking.ask(
        tx, now.instance, None, Question(PERSON, "plan_approval", title, _told(tx, now), hash=hash, lasts=None)
    )


def _asked(tx: ReadTx, now: Situation) -> list[Request]:
    found = requests.open_of(tx, now.run.stream)
    return [one for one in found if one.kind == "plan_approval" and one.requester_id is None and one.is_for_person]


def _hash(tx: ReadTx, now: Situation) -> str:
    """Of everything that is approved with a plan."""
    planned = [[one.name, one.description, one.assigned, list(one.files)] for one in _listed(tx, now)]
    return hashlib.sha256(json.dumps([now.run.id, dict(now.board.plan), planned]).encode()).hexdigest()


def _told(tx: ReadTx, now: Situation) -> str:
    said = [str(now.board.plan.get(key) or "") for key in ("summary", "approach")]
    lines = [f"- {one.name}{_for(one)}: {text.shortened(one.description, 300)}" for one in _listed(tx, now)]
    return "\n".join(["plan:", *(part for part in said if part), *lines])


def _for(task: Task) -> str:
    return f" ({task.assigned})" if task.assigned else ""


def _listed(tx: ReadTx, now: Situation) -> list[Task]:
    return tasks.page(tx, now.board.id, limit=_MOST_TASKS)
