"""Planning and delegating: the lead makes the plan, a person may have to agree to it, and then it is handed out."""

from typing import Literal

from moot.board import evidence, laying, plans, tasks
from moot.board.plans import Plan, Planned
from moot.board.states import OPEN_BOARDS
from moot.board.tasks import Task
from moot.core import text
from moot.core.tx import ReadTx, Tx
from moot.registry.agents import PERSON
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import handing_out
from moot.runner.teams import notices
from moot.runner.teams.situation import Situation
from moot.teams import marks, teams
from moot.teams.teams import Team
from moot.tools import agreement, asking
from moot.tools.asking import Question

Said = Literal["agreed", "awaited", "given up"]
_MOST_TOLD = 1000  # tasks that everybody hears of
_MOST_SHOWN = 100_000  # characters of a plan that is to be approved


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
    if (said := agree(tx, now)) != "agreed":
        return said == "given up"
    teams.move(tx, now.team, "delegating")
    notices.announce(tx, now, _told(tx, now))
    handing_out.add(tx, now.board.id)
    return True


def agree(tx: Tx, now: Situation) -> Said:
    """Whether everybody agrees to the plan as it is who has to; asks for that if nobody has. A lead whose plan was
    denied makes another, or the team has failed."""
    found = _agreement(tx, now)
    if found is None:
        return "agreed"
    if found.state == "approved":
        if marks.add(tx, now.team, f"agreed:{found.id}") == 1:
            handing_out.add(tx, now.board.id)
        return "agreed"
    if found.is_open:
        return "awaited"
    if marks.add(tx, now.team, f"denied:{found.id}") == 1:
        why = f": {found.answer}" if found.answer else "."
        notices.tell(tx, now, (now.team.lead,), f"{found.addressee} has denied the plan{why}\n\nMake another one.")
        return "awaited"
    if not now.is_started(now.team.lead) or not now.is_quiet([now.team.lead]):
        return "awaited"
    teams.move(tx, now.team, "failed", "the plan was denied, and the lead has made no other")
    return "given up"


def delegate(tx: Tx, now: Situation) -> bool:
    """On to working, once somebody has something in hand."""
    if (said := agree(tx, now)) != "agreed":
        return said == "given up"
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
    if not agreement.is_needed(tx, now.team):
        return None
    found = agreement.asked(tx, now.team, now.board)
    if found is not None:
        return found
    for one in _asked(tx, now):  # of a plan that was changed meanwhile
        asking.cancel(tx, now.instance, one.id, None, is_operator=True)
    hash = agreement.hash_of(tx, now.team, now.board)
    title = f"Approve the plan of {now.team.instance}: {text.shortened(now.team.goal, 120)}"
    return asking.ask(
        tx, now.instance, None, Question(PERSON, "plan_approval", title, _in_full(tx, now), hash=hash, lasts=None)
    )


def _asked(tx: ReadTx, now: Situation) -> list[Request]:
    found = requests.open_of(tx, now.run.stream)
    return [one for one in found if one.kind == "plan_approval" and one.requester_id is None and one.is_for_person]


def _told(tx: ReadTx, now: Situation) -> str:
    said = [str(now.board.plan.get(key) or "") for key in ("summary", "approach")]
    lines = [f"- {one.name}{_for(one)}: {text.shortened(one.description, 300)}" for one in _listed(tx, now)]
    return "\n".join(["plan:", *(part for part in said if part), *lines])


def _for(task: Task) -> str:
    return f" ({task.assigned})" if task.assigned else ""


def _in_full(tx: ReadTx, now: Situation) -> str:
    """Whoever approves sees all that is approved."""
    said = [str(now.board.plan.get(key) or "") for key in ("summary", "approach")]
    parts = [_spelled(tx, one) for one in agreement.planned(tx, now.team, now.board)]
    whole = "\n".join(["plan:", *(part for part in said if part), *parts])
    if len(whole) <= _MOST_SHOWN:
        return whole
    return f"{whole[:_MOST_SHOWN]}\n… (cut off: read all of it with moot plan show {now.board.id} before you approve)"


def _spelled(tx: ReadTx, one: Task) -> str:
    needs = ", ".join(edge.name for edge in tasks.needs(tx, one.id, plans.MOST_NEEDS))
    checks = "; ".join(evidence.spell(evidence.parse(check)) for check in one.checks)
    about = (("after", needs), ("who can", ", ".join(one.capabilities)), ("files", ", ".join(one.files)),
             ("done when", checks))  # fmt: skip
    lines = [f"- {one.name}{_for(one)}: {one.description}", *(f"  {word}: {said}" for word, said in about if said)]
    return "\n".join(lines)


def _listed(tx: ReadTx, now: Situation) -> list[Task]:
    return tasks.page(tx, now.board.id, limit=_MOST_TOLD)
