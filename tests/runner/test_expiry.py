"""Proposals end in time though nobody touches them, and agents are woken to vote."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import HostId, ProposalId
from moot.core.tx import Query, ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, JobLost
from moot.proposals import proposals, votes
from moot.proposals.proposals import NewProposal, Proposal
from moot.registry import agents
from moot.runner import expiry, idle
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.tools import voting
from moot.tools.voting import Paper
from tests.interleave import interleave
from tests.runner.team import Line, Team, gather, make_host, running

ID = ProposalId("prop-001")
SOON = timedelta(milliseconds=100)
LATER = timedelta(hours=1)
HURRY = Query("hurry", "", "update jobs set run_at = 0")
SILENT: list[Line] = [{"on": "nothing at all"}]


def voter(choice: str) -> list[Line]:
    return [{"on": r"\[PROPOSAL:(\S+)\]", "calls": [{"vote": {"proposal": "$1", "choice": choice}}]}]


async def propose(team: Team, lasts: timedelta, quorum: int | None = None) -> Proposal:
    def change(tx: Tx) -> Proposal:
        person = agents.person(tx, team.instance)
        new = NewProposal(
            stream=team.instance.stream,
            instance=team.instance.name,
            type="approval",
            title="Merge?",
            creator=person.name,
            creator_id=person.id,
            electors=voting.electorate(tx, team.instance),
            quorum=quorum,
            lasts=lasts,
        )
        return voting.start(tx, team.instance, new)

    return await team.store.write(change, caller=SYSTEM)


async def standing(team: Team) -> Proposal:
    return await team.store.read(lambda tx: proposals.get(tx, ID))


async def test_a_proposal_that_nobody_touches_ends(store: Store) -> None:
    team = await gather(store, {"ann": SILENT})
    async with running(make_host(store)):
        await propose(team, SOON)
        await team.until_event(votes.CLOSED)
        await team.idle()
    assert (await standing(team)).outcome.status == "expired"
    assert (await team.bodies())[-1] == "system: [EXPIRED:prop-001] Merge?\nNo votes received."
    assert await store.read(lambda tx: jobs.live(tx, team.instance.stream)) == []


async def test_what_ran_out_while_nobody_was_there_ends_with_the_next_host(open_store: Callable[[], Store]) -> None:
    team = await gather(open_store(), {"ann": SILENT})
    await propose(team, timedelta(microseconds=1))
    again = open_store()
    async with running(make_host(again)):
        await Team(again, team.instance).until_event(votes.CLOSED)
    assert (await standing(team)).outcome.status == "expired"


async def test_agents_wake_to_vote_and_the_last_vote_ends_it(store: Store) -> None:
    team = await gather(store, {"ann": voter("yes"), "bob": voter("no"), "eve": voter("yes")})
    async with running(make_host(store)):
        await propose(team, LATER)
        await team.until_event(votes.CLOSED)
        await team.idle()
    ended = await standing(team)
    assert (ended.outcome.winner, ended.outcome.resolved_by) == ("yes", "votes")
    assert sorted(await team.bodies())[:3] == [
        'ann: [VOTE:prop-001] I vote for "Approve"',
        'bob: [VOTE:prop-001] I vote for "Reject"',
        'eve: [VOTE:prop-001] I vote for "Approve"',
    ]
    assert len(await team.events("attempt_started")) == 3


async def test_nothing_is_idle_while_something_can_be_voted_on(store: Store) -> None:
    team = await gather(store, {"ann": SILENT})
    await propose(team, LATER)

    def is_waiting(tx: ReadTx) -> bool:
        is_read = not [job for job in jobs.live(tx, team.instance.stream) if job.kind == "attempt"]
        return is_read and len(votes_of(tx)) == 0 and not idle.is_idle(tx, team.instance.stream)

    async with running(make_host(store)):
        await team.until_event("attempt_succeeded")
        await team.until(is_waiting)
        await store.write(lambda tx: voting.cancel(tx, team.instance, ID, None), caller=SYSTEM)
        await team.idle()


def votes_of(tx: ReadTx) -> tuple[proposals.Vote, ...]:
    return proposals.get(tx, ID).votes


async def test_who_has_voted_before_it_woke_is_not_started(store: Store) -> None:
    team = await gather(store, {"ann": voter("no"), "bob": voter("no")})
    await propose(team, LATER)

    def vote(tx: Tx) -> None:
        ann = agents.named(tx, team.instance.stream, "ann")
        voting.cast(tx, team.instance, ann, Paper(ID, "yes"))

    await store.write(vote, caller=SYSTEM)
    async with running(make_host(store)):
        await team.until_event(votes.CLOSED)
        await team.idle()
    bob = await store.read(lambda tx: agents.named(tx, team.instance.stream, "bob"))
    assert [event.data["agent"] for event in await team.events("attempt_started")] == [bob.id]


async def test_two_hosts_end_a_proposal_once(store: Store) -> None:
    team = await gather(store, {"ann": SILENT})
    async with running(make_host(store)), running(make_host(store)):
        await propose(team, SOON)
        await team.until_event(votes.CLOSED)
        await team.idle()
    assert len(await team.events(votes.CLOSED)) == 1
    assert len([body for body in await team.bodies() if "EXPIRED" in body]) == 1


async def test_what_was_begun_twice_ends_once(store: Store) -> None:
    """A host that comes back late finds that its job was done by another."""
    team = await gather(store, {"ann": SILENT})
    await propose(team, timedelta(microseconds=1))
    job = await take(store)
    await store.write(lambda tx: expiry.end_proposal(tx, job), caller=SYSTEM)
    with pytest.raises(JobLost):
        await store.write(lambda tx: expiry.end_proposal(tx, job), caller=SYSTEM)
    assert len(await team.events(votes.CLOSED)) == 1


async def take(store: Store) -> Job:
    def change(tx: Tx) -> Job:
        (job,) = jobs.take(tx, Appetite(HostId("ho_1"), others=5))
        return job

    return await store.write(change, caller=SYSTEM)


@pytest.mark.parametrize("first", ["vote", "timer"])
async def test_the_last_vote_and_the_timer_meet(pg_store: PostgresStore, first: str) -> None:
    """Whoever is second finds that it is over, and nothing is left behind."""
    team = await gather(pg_store, {"ann": SILENT, "bob": SILENT})
    await propose(team, LATER, quorum=1)
    await pg_store.write(lambda tx: tx.run(HURRY), caller=SYSTEM)  # a timer that comes while there is time to vote
    job = await take(pg_store)
    ann = await pg_store.read(lambda tx: agents.named(tx, team.instance.stream, "ann"))

    def vote(tx: Tx) -> None:
        voting.cast(tx, team.instance, ann, Paper(ID, "yes"))

    def end(tx: Tx) -> None:
        expiry.end_proposal(tx, job)

    if first == "vote":
        with pytest.raises(JobLost):
            await interleave(pg_store, vote, end)
    else:
        with pytest.raises(votes.ProposalClosed):
            await interleave(pg_store, end, vote)
    assert (await standing(team)).outcome.status == ("resolved" if first == "vote" else "expired")
    assert len(await team.events(votes.CLOSED)) == 1
    assert await pg_store.read(lambda tx: jobs.live(tx, team.instance.stream)) == []
