"""The job that takes a team further: it looks at what is so, and does what comes next. Then there is another look: what
a step has announced is reacted to before anybody decides from it."""

from collections.abc import Callable, Mapping

from moot.core.events import StoredEvent
from moot.core.ids import RunId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.registry import runs
from moot.registry.runs import Run
from moot.runner import idle
from moot.runner.teams import merging, planning, reviewing, situation, working
from moot.runner.teams.situation import Situation
from moot.teams import teams
from moot.teams.stages import Stage
from moot.tools import teamwork

# What is done in each stage; True if the team has come further, or anything has changed that it depends on.
_STEPS: Mapping[Stage, Callable[[Tx, Situation], bool]] = {
    "planning": planning.plan,
    "delegating": planning.delegate,
    "working": working.work,
    "reviewing": reviewing.review,
    "comparing": reviewing.compare,
    "redelegating": reviewing.redelegate,
    "merging": merging.merge,
}


def look(tx: Tx, event: StoredEvent) -> None:
    """The reaction: something has happened that a team may wait for."""
    run = teams.run_in(tx, event.stream)
    if run is not None:
        teamwork.look(tx, run, event.stream)


def advance(tx: Tx, job: Job) -> None:
    """The job. Whoever changes a team holds its instance first, as those do who react."""
    run = runs.get(tx, RunId(job.subject))
    tx.lock("instances", run.instance)
    jobs.finish(tx, job)
    _go_on(tx, run.id)


def comes_further(tx: Tx, run: Run) -> bool:
    """A last look before a run is ended: not all that a team waits for is an event. Who acknowledges its mail late, or
    from outside, is seen by nobody. The instance is held by the caller."""
    before = teams.of_run(tx, run.id)
    if before is None or not before.is_live or not _goes_on(run):
        return False
    _go_on(tx, run.id)
    return teams.of_run(tx, run.id) != before or not idle.is_idle(tx, run.stream)


def _go_on(tx: Tx, id: RunId) -> None:
    run = runs.get(tx, id)
    now = situation.look(tx, run) if _goes_on(run) else None
    step = None if now is None else _STEPS.get(now.team.stage)
    if now is not None and step is not None and (step(tx, now) or now.has_news):
        teamwork.look(tx, run.id, run.stream)


def _goes_on(run: Run) -> bool:
    return run.state == "live" and not run.is_paused and run.stop_asked is None and run.phase != "setup"
