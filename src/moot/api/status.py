"""The state of an instance: who does what, who waits for whom, and why nothing moves."""

from dataclasses import dataclass, replace
from datetime import timedelta

from moot.api import roster
from moot.api.access import Access
from moot.bus import mailbox
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.proposals import proposals
from moot.proposals.proposals import Proposal
from moot.registry import agents, attempts, hosts, instances, runs
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.registry.runs import Run


@dataclass(frozen=True, slots=True)
class Doing:
    """One agent: its state, its mail, and since when it has been at work."""

    agent: Agent
    state: str
    unread: int
    parked: int
    attempt: int | None  # the how-manieth, if it is in one
    since: timedelta | None


@dataclass(frozen=True, slots=True)
class Status:
    instance: Instance
    run: Run | None  # the last one
    is_attended: bool
    is_served: bool
    agents: tuple[Doing, ...]
    votes: tuple[Proposal, ...]  # that are open
    reasons: tuple[str, ...]  # why nothing moves, each with its remedy


async def of_all(access: Access, only: InstanceName | None = None) -> list[Status]:
    def look(tx: ReadTx) -> list[Status]:
        found = [instances.get(tx, only)] if only else instances.all_of(tx)
        return [_of(tx, instance) for instance in found]

    return await access.store.read(look)


def _of(tx: ReadTx, instance: Instance) -> Status:
    run = runs.latest(tx, instance.name)
    is_attended = run is not None and run.state == "live" and runs.is_attended(tx, run)
    is_served = any("run" in host.roles for host in hosts.alive(tx))
    counts = mailbox.counts(tx, instance.stream)
    members = [one for one in agents.members(tx, instance.stream) if one.backend != "service"]
    doing = tuple(_doing(tx, one, counts.get(one.id)) for one in members)
    votes = tuple(proposals.open_of(tx, instance.stream))
    status = Status(instance, run, is_attended, is_served, doing, votes, ())
    return replace(status, reasons=tuple(_reasons(status)))


def _doing(tx: ReadTx, agent: Agent, counts: mailbox.Counts | None) -> Doing:
    attempt = attempts.running(tx, agent.id)
    return Doing(
        agent=agent,
        state=roster.state(tx, agent) if agent.backend != "human" else "person",
        unread=counts.unread if counts else 0,
        parked=counts.parked if counts else 0,
        attempt=attempt.number if attempt else None,
        since=tx.now - attempt.started_at if attempt else None,
    )


def _reasons(status: Status) -> list[str]:
    found: list[str] = []
    run, name = status.run, status.instance.name
    waiting = [one for one in status.agents if one.unread and one.agent.is_started_by_moot and one.attempt is None]
    if run is not None and run.state == "live" and run.is_paused:
        found.append(f"the run is paused; go on with: moot resume @{name}")
    if run is not None and run.state in ("interrupted", "limit"):
        found.append(f"the run is {run.state} ({run.reason}); go on with: moot resume @{name}")
    if run is not None and run.state == "live" and not status.is_attended:
        found.append(f"nobody attends the run any more; go on with: moot resume @{name}")
    if waiting and not status.is_served:
        found.append("mail waits and no host is running; start one with: moot serve")
    for one in status.agents:
        if one.agent.backend == "human" and one.unread:
            found.append(f"{one.agent.name} has {one.unread} unread message(s); see moot inbox")
        if one.parked:
            found.append(f"{one.parked} message(s) for {one.agent.name} were given up; try again with: moot retry")
        if one.agent.backend == "external" and one.unread:
            found.append(f"{one.agent.name} joins from outside and has not read {one.unread} message(s)")
    for vote in status.votes:
        open_votes = [ballot.name for ballot in vote.ballots if ballot.choice is None]
        found.append(f"{vote.id} waits for the votes of {', '.join(open_votes)}")
    return found


def document(status: Status) -> dict[str, Json]:
    """As plain data for JSON."""
    run = status.run
    return {
        "instance": status.instance.name,
        "workflow_id": run.id if run else None,
        "workflow": run.name if run else None,
        "status": run.state if run else None,
        "phase": run.phase if run else None,
        "reason": run.reason if run else "",
        "is_paused": bool(run and run.is_paused),
        "host_running": status.is_served,
        "agents": [_plain(one) for one in status.agents],
        "votes": [vote.id for vote in status.votes],
        "reasons": status.reasons,
    }


def _plain(one: Doing) -> dict[str, Json]:
    return {
        "name": one.agent.name,
        "status": one.state,
        "backend": one.agent.backend,
        "unread": one.unread,
        "parked": one.parked,
        "attempt": one.attempt,
        "seconds": one.since.total_seconds() if one.since else None,
    }
