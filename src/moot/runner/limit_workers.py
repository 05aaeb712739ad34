"""Limits that a job sees to: talk that goes round in circles, and time that is up."""

from datetime import timedelta

from moot.bus import mailbox
from moot.core.clock import MICROSECOND
from moot.core.ids import InstanceName, RunId
from moot.core.text import counted
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger import budgets, stops
from moot.ledger.budgets import Share
from moot.registry import agents, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import endings, limits, phases, purses
from moot.runner.reactions.wake_agents import wake

GRACE = timedelta(minutes=1)  # for what runs when the time is up; a tenth of the time if that is less


def end_talk(tx: Tx, job: Job) -> None:
    """Talk goes round in circles. A run ends, once the one whom the message was for has had a last attempt; where there
    is none, the message is parked."""
    jobs.finish(tx, job)
    instance, reason = InstanceName(str(job.arguments["instance"])), str(job.arguments["reason"])
    fact = f"Talk goes round in circles ({reason})."
    run, seq = runs.live(tx, instance), int(str(job.arguments["seq"]))
    if run is None:
        count = mailbox.park_message(tx, job.stream, seq)
        purses.tell(tx, instance, f"{fact}\nParked: {counted(count, 'message')}; moot retry goes on.")
        return
    heir = _heir(tx, run, seq)
    if not stops.reach(tx, run.id, reason, heir=heir and heir.id, is_final=heir is None):
        return
    if heir is None:
        purses.tell(tx, instance, f"{fact} The run ends; moot resume goes on.")
    else:
        purses.tell(tx, instance, f"{fact} One last attempt, by {heir.name}, then the run ends; moot resume goes on.")
        wake(tx, heir)


def _heir(tx: ReadTx, run: Run, seq: int) -> Agent | None:
    """The first whom moot can start of those who have the message that was held back."""
    waiting = [agents.get(tx, one.agent) for one in mailbox.receipts(tx, run.stream, seq) if one.state == "queued"]
    able = (one for one in waiting if one.is_started_by_moot and one.stopped_at is None and one.left_at is None)
    return next(able, None)


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
    # Also where a limit was noted before, by an attempt that wanted to begin: others may still be at work.
    jobs.add(tx, limits.timer(run, limits.over_key(run), tx.now + min(GRACE, budget.time * MICROSECOND / 10)))
    purses.reach(tx, purses.of_run(run), Share("time", budget.time, budget.elapsed(tx.now)))


def _interrupt(tx: Tx, job: Job, run: Run) -> None:
    stops.finish(tx, run.id)
    for agent in phases.members_of(tx, run):
        endings.interrupt(tx, agent)
    jobs.finish(tx, job)
