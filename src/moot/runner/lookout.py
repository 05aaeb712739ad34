"""The lookout: what a run is doing, in one snapshot, for whoever decides whether it is over."""

from dataclasses import dataclass

from moot.bus import mailbox
from moot.core.ids import RunId
from moot.core.tx import ReadTx
from moot.jobs import jobs
from moot.registry import agents, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.requests import requests
from moot.runner import idle


@dataclass(frozen=True, slots=True)
class Look:
    run: Run
    is_idle: bool
    is_working: bool  # an attempt is under way
    parked: int  # messages that were given up
    awaited: tuple[Agent, ...]  # people with unread mail or an open request


def look(tx: ReadTx, id: RunId) -> Look:
    run = runs.get(tx, id)
    members = agents.members(tx, run.stream)
    counts = mailbox.counts(tx, run.stream)
    asked = {one.addressee_id for one in requests.open_of(tx, run.stream)}
    unread = {agent for agent, count in counts.items() if count.unread}
    return Look(
        run=run,
        is_idle=run.phase == "talk" and idle.is_idle(tx, run.stream),
        is_working=any(job.kind == "attempt" and job.state == "running" for job in jobs.live(tx, run.stream)),
        parked=sum(count.parked for count in counts.values()),
        awaited=tuple(one for one in members if one.backend == "human" and one.id in unread | asked),
    )
