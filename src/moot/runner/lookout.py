"""The lookout: what a run is doing, in one snapshot, for whoever decides whether it is over."""

from collections.abc import Sequence

from moot.bus import mailbox
from moot.core.ids import RunId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger import stops
from moot.registry import agents, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.requests import requests
from moot.runner import idle, plan_section
from moot.runner.flows import section
from moot.runner.phases import SETUP
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.runner.teams import section as team_section
from moot.store import feed
from moot.tools.guards import LIMIT

_WORK = (ATTEMPT, SETUP)
_NOTICES = ("system", "task")
_MAIL = 1000  # messages of a person that are looked at


@record
class Look:
    run: Run
    is_idle: bool
    is_working: bool  # an attempt or a command of setup is under way
    parked: int  # messages that were given up
    awaited: tuple[Agent, ...]  # people with unread mail, an open request or a task, and who is asked for them
    outside: tuple[Agent, ...]  # who come by themselves and have unread mail
    stranded: tuple[Agent, ...]  # who were stopped with unread mail
    limit: str | None  # that was reached, once nobody is at work any more
    stopped: tuple[str, ...]  # agents that have used up what was their own, and how
    has_more: bool  # a part of its file has not begun
    unfinished: str  # what is wrong with the plan, if nobody is at work and it is not done


def look(tx: ReadTx, id: RunId) -> Look:
    run = runs.get(tx, id)
    members = agents.members(tx, run.stream)
    counts = mailbox.counts(tx, run.stream)
    live = jobs.live(tx, run.stream)
    asked = requests.open_of(tx, run.stream)
    asked_of = {one.addressee_id for one in asked}
    people = [one for one in members if one.backend == "human"]
    for_people = {one.addressee_id for one in asked if one.is_for_person} - {one.id for one in people}
    holders = [*plan_section.holders(tx, run), *team_section.awaited(tx, run)]
    at_work = {one.id for one in holders}
    stop = stops.find(tx, run.id)
    unread = {agent for agent, count in counts.items() if count.unread}
    return Look(
        run=run,
        is_idle=run.phase in ("talk", "tasks", "steps") and idle.is_idle(tx, run.stream) and not _are_outside(holders),
        is_working=any(job.kind in _WORK and job.state == "running" for job in live),
        parked=sum(count.parked for count in counts.values()),
        awaited=(
            *(one for one in people if one.id in asked_of | at_work or _is_asked(tx, run, one)),
            *(one for one in members if one.id in for_people),
        ),
        outside=tuple(one for one in members if one.backend == "external" and one.id in unread),
        stranded=tuple(one for one in members if one.is_started_by_moot and one.stopped_at and one.id in unread),
        limit=None if stop is None or _is_winding_up(tx, run, live) else stop.reason,
        has_more=_has_more(run),
        unfinished=team_section.trouble(tx, run) or plan_section.trouble(tx, run) or section.trouble(tx, run),
        stopped=tuple(f"{agents.get(tx, one.agent).name}: {one.reason}" for one in stops.of_agents(tx, run.id)),
    )


def _has_more(run: Run) -> bool:
    has_tasks, has_steps = plan_section.is_planned(run), section.has_steps(run)
    return (run.phase == "talk" and (has_tasks or has_steps)) or (run.phase == "tasks" and has_steps)


def _are_outside(holders: Sequence[Agent]) -> bool:
    """Whether somebody from outside is at work on a task, and the run waits for it."""
    return any(one.backend == "external" for one in holders)


def _is_asked(tx: ReadTx, run: Run, person: Agent) -> bool:
    """Whether somebody in this run waits for them; moot's own notices are no questions, and a task is waited for as
    long as they hold it."""
    return any(mail.seq > run.first_seq and mail.kind not in _NOTICES for mail in mailbox.unread(tx, person.id, _MAIL))


def _is_winding_up(tx: ReadTx, run: Run, live: list[Job]) -> bool:
    """Whether somebody works, will, or is to be told of a limit."""
    return any(job.kind in (ATTEMPT, LIMIT) for job in live) or feed.has_news(tx, run.stream)
