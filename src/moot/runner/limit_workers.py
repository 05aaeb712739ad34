"""What happens when a limit is reached: the channel and the person hear of it once, and the run comes to its end."""

from datetime import timedelta

from moot.bus import mailbox
from moot.core.clock import MICROSECOND
from moot.core.ids import InstanceName, RunId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger import budgets
from moot.registry import agents, instances, runs
from moot.registry.runs import Run
from moot.runner import endings, limits, phases
from moot.tools import talk
from moot.tools.talk import Words

GRACE = timedelta(minutes=1)  # for what runs when the time is up; a tenth of the time if that is less


def tell(tx: Tx, job: Job) -> None:
    """An agent has reached its own limit, or talk one of the run."""
    jobs.finish(tx, job)
    reason = str(job.arguments["reason"])
    if "agent" in job.arguments:
        fact = f"{job.arguments['agent']} has reached its {reason} and is stopped."
        _say(tx, job, f"{fact}\n{job.arguments['parked']} message(s) for it are parked.")
    else:
        _end_talk(tx, job, reason)


def _end_talk(tx: Tx, job: Job, reason: str) -> None:
    """Talk goes round in circles: a run ends; where there is none, the message that was held back is parked."""
    run = runs.live(tx, InstanceName(str(job.arguments["instance"])))
    if run is None:
        count = mailbox.park_message(tx, job.stream, int(str(job.arguments["seq"])))
        _say(tx, job, f"Talk goes round in circles ({reason}).\n{count} message(s) are parked; moot retry goes on.")
    elif budgets.stop(tx, run.id, reason, is_last_allowed=False):
        _say(tx, job, f"Talk goes round in circles ({reason}). The run ends; moot resume goes on.")


def end_in_time(tx: Tx, job: Job) -> None:
    """The time is up: who works may finish for a while, then everybody is interrupted."""
    run = runs.get(tx, RunId(job.subject))
    if run.state != "live":
        jobs.finish(tx, job)
    elif job.key == limits.over_key(run):
        _interrupt(tx, job, run)
    else:
        _warn(tx, job, run)


def _warn(tx: Tx, job: Job, run: Run) -> None:
    budget = budgets.find(tx, run.id)
    jobs.finish(tx, job)
    if budget is None or budget.time is None:
        return
    reason = f"budget: {budgets.spell('time', budget.time)}"
    # Also where a limit was noted before, by an attempt that wanted to begin: others may still be at work.
    jobs.add(tx, limits.timer(run, limits.over_key(run), tx.now + min(GRACE, budget.time * MICROSECOND / 10)))
    if budgets.stop(tx, run.id, reason, is_last_allowed=True):
        limits.tell(tx, run, reason)


def _interrupt(tx: Tx, job: Job, run: Run) -> None:
    budgets.begin_last(tx, run.id)
    for agent in phases.members_of(tx, run):
        endings.interrupt(tx, agent)
    jobs.finish(tx, job)


def _say(tx: Tx, job: Job, body: str) -> None:
    instance = instances.get(tx, str(job.arguments["instance"]))
    talk.say(tx, instance, None, Words(body, to=(agents.PERSON,), kind="system", spoken=""))
