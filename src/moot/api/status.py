"""The state of an instance: who does what, who waits for whom, and why nothing moves."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

from moot.api import remedies, roster, tallies, targets, whereabouts
from moot.api.access import Access
from moot.api.tallies import Tally
from moot.api.whereabouts import Whereabouts
from moot.board import tasks
from moot.bus import mailbox
from moot.core import clock, text
from moot.core.ids import AgentId, InstanceName
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.ledger import pauses
from moot.proposals import proposals
from moot.proposals.proposals import Proposal
from moot.registry import agents, hosts, instances, runs
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.registry.runs import Run
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import phases, terms
from moot.workspaces import grounds


@record
class Doing:
    """One agent: its state, its mail, and since when it has been at work."""

    agent: Agent
    state: str
    unread: int
    parked: int
    attempt: int | None  # the how-manieth, if it is in one
    since: timedelta | None
    releasing: str  # the command that runs it again, if it is stopped
    is_bound: bool  # to a run that is live, whose attendant runs it
    tasks: tuple[str, ...] = ()  # that it holds

    @property
    def needs_host(self) -> bool:
        """Whether its mail waits for a host, and for nothing else."""
        is_ready = self.agent.is_started_by_moot and self.agent.stopped_at is None and self.attempt is None
        return bool(self.unread) and is_ready and not self.is_bound


@record
class Status:
    instance: Instance
    run: Run | None  # the last one
    is_attended: bool
    is_served: bool
    agents: tuple[Doing, ...]
    votes: tuple[Proposal, ...]  # that are open
    requests: tuple[Request, ...]  # that wait for an answer
    plans: tuple[Tally, ...] = ()  # that are not over
    flows: tuple[Whereabouts, ...] = ()  # likewise
    asked: tuple[str, ...] = ()  # what waits for people, each with its remedy
    obstacles: tuple[str, ...] = ()  # what else is in the way, likewise

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing moves, in the order in which a person would see to it."""
        return (*self.asked, *self.obstacles)


async def releasing(access: Access, stopped: Sequence[Agent]) -> dict[str, str]:
    """For each agent that is stopped, the command that runs it again."""
    return await access.store.read(lambda tx: {one.name: remedies.releasing(tx, one) for one in stopped})


async def of_all(access: Access, only: InstanceName | None = None, *, is_whole: bool = True) -> list[Status]:
    """If it need not be the whole, without questions that were answered."""

    place = grounds.place(access.project.root)

    def look(tx: ReadTx) -> list[Status]:
        left_out = frozenset[str]() if is_whole or only else runs.answered(tx)
        found = [instances.get(tx, only)] if only else instances.all_of(tx)
        return [of_instance(tx, instance, place) for instance in found if instance.name not in left_out]

    return await access.store.read(look)


async def follow(
    access: Access, only: InstanceName | None = None, *, is_whole: bool = True
) -> AsyncIterator[list[Status]]:
    """As it stands, and again whenever that has changed; without looking in between."""
    shown: list[dict[str, Json]] | None = None
    with access.store.listen() as signal:
        while True:
            signal.clear()
            found = await of_all(access, only, is_whole=is_whole)
            told = [_timeless(one) for one in found]
            if told != shown:
                shown = told
                yield found
            await signal.wait()


def _timeless(status: Status) -> dict[str, Json]:
    """Without what changes by itself."""
    return document(replace(status, agents=tuple(replace(one, since=None) for one in status.agents)))


def of_instance(tx: ReadTx, instance: Instance, place: str) -> Status:
    """`place`: where whoever asks is."""
    run = runs.latest(tx, instance.name)
    is_attended = run is not None and run.state == "live" and runs.is_attended(tx, run)
    is_served = any("run" in host.roles for host in hosts.alive(tx))
    counts = mailbox.counts(tx, instance.stream)
    members = [one for one in agents.members(tx, instance.stream) if one.backend != "service"]
    bound = (
        {one.id for one in phases.members_of(tx, run)} if run is not None and run.state == "live" else set[AgentId]()
    )
    doing = tuple(_doing(tx, one, counts.get(one.id), is_bound=one.id in bound) for one in members)
    votes = tuple(proposals.open_of(tx, instance.stream))
    asked = tuple(requests.open_of(tx, instance.stream))
    plans = tuple(tallies.open_ones(tx, instance.name))
    flows = tuple(whereabouts.current(tx, instance.name))
    status = Status(instance, run, is_attended, is_served, doing, votes, asked, plans, flows)
    is_worked = any("work" in host.roles for host in hosts.alive(tx))
    stuck = (tallies.obstacles(tx, one, is_served=is_worked, place=place) for one in plans)
    held = (whereabouts.obstacles(one, is_served=is_worked) for one in flows)
    waits = (*_pauses(tx, doing), *(reason for one in (*stuck, *held) for reason in one))
    stands = None if run is None else _stands(tx, run, is_attended=is_attended)
    return replace(status, asked=tuple(_asked_of_people(status)), obstacles=(*_obstacles(status, stands), *waits))


def _stands(tx: ReadTx, run: Run, *, is_attended: bool) -> str | None:
    resume, begin = remedies.resuming(tx, run), remedies.beginning(tx, run)
    return remedies.of_run(run, resume, is_attended=is_attended, begin=begin)


def _pauses(tx: ReadTx, doing: Sequence[Doing]) -> list[str]:
    """Of providers whose agents have mail."""
    live = pauses.live(tx)
    waiting = [one.agent for one in doing if live and one.unread and one.agent.is_started_by_moot]
    needed = {name for agent in waiting for name in terms.reached(agent)}
    found = [pause for pause in live if pause.provider in needed]
    return [f"{one.provider} asked to wait until {clock.to_iso(one.until)}: {one.reason}" for one in found]


def _doing(tx: ReadTx, agent: Agent, counts: mailbox.Counts | None, *, is_bound: bool) -> Doing:
    attempt = roster.attempt(tx, agent)
    return Doing(
        agent=agent,
        state=roster.state(tx, agent) if agent.backend != "human" else "person",
        unread=counts.unread if counts else 0,
        parked=counts.parked if counts else 0,
        attempt=attempt.number if attempt else None,
        since=tx.now - attempt.started_at if attempt else None,
        releasing=remedies.releasing(tx, agent) if agent.is_started_by_moot and agent.stopped_at else "",
        is_bound=is_bound,
        tasks=tuple(one.name for one in tasks.held_by(tx, agent.id)),
    )


def _asked_of_people(status: Status) -> list[str]:
    name = status.instance.name
    found = [_asked(one) for one in status.requests]
    for one in status.agents:
        if one.agent.backend == "human" and one.unread:
            unread = text.counted(one.unread, "unread message")
            found.append(f"{one.agent.name} has {unread}; see {remedies.inbox(one.agent.name, name)}")
    return found


def _obstacles(status: Status, stands: str | None) -> list[str]:
    """In the order in which a person would see to them."""
    found = [stands] if stands else []
    if not status.is_served and any(one.needs_host for one in status.agents):
        found.append("mail waits and no host is running; start one with: moot serve")
    found += [reason for one in status.agents for reason in _mail(one)]
    for vote in status.votes:
        open_votes = [ballot.name for ballot in vote.ballots if ballot.choice is None]
        found.append(f"{vote.id} waits for the votes of {', '.join(open_votes)}")
    return found


def _asked(one: Request) -> str:
    who = "you" if one.addressee == agents.PERSON else one.addressee
    words = " --text ANSWER" if one.kind == "question" else ""
    answer = f"; answer with: moot approve {one.id}{words}, or: moot deny {one.id}" if one.is_for_person else ""
    return f"{one.requester} waits for {who}: {one.title}{answer}"


def _mail(one: Doing) -> list[str]:
    agent, unread = one.agent, text.counted(one.unread, "message")
    found: list[str] = []
    if one.unread and one.releasing:
        found.append(f"{agent.name} is stopped and has not read {unread}; run it again with: {one.releasing}")
    if one.parked:
        parked, retry = text.counted(one.parked, "message"), targets.whole("moot retry", agent.instance)
        were = "was" if one.parked == 1 else "were"
        found.append(f"{parked} for {agent.name} {were} given up; try again with: {retry}")
    if agent.backend == "external" and one.unread:
        join = f"; it joins with: {targets.joining(agent.name, agent.instance)}" if one.state == "offline" else ""
        found.append(f"{agent.name} comes from outside and has not read {unread}{join}")
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
        "plans": [_tally(one) for one in status.plans],
        "flows": [whereabouts.plain(one) for one in status.flows],
        "votes": [vote.id for vote in status.votes],
        "requests": [one.id for one in status.requests],
        "reasons": status.reasons,
    }


def _plain(one: Doing) -> dict[str, Json]:
    return {
        "name": one.agent.name,
        "status": one.state,
        "backend": one.agent.backend,
        "unread": one.unread,
        "parked": one.parked,
        "tasks": one.tasks,
        "attempt": one.attempt,
        "seconds": one.since.total_seconds() if one.since else None,
    }


def _tally(one: Tally) -> dict[str, Json]:
    return {
        "workflow_id": one.board.id,
        "name": one.board.name,
        "status": one.board.status,
        "total_tasks": one.total,
        "completed_tasks": one.done,
        "at_work": one.at_work,
        "blocked": one.blocked,
        "failed": one.failed,
    }
