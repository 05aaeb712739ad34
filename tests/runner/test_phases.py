"""The phases of a run: each is entered once, by whoever comes first, and one run does not get into another's way."""

import pytest

from moot.bus import mailbox, messages
from moot.core.ids import AgentId, HostId
from moot.core.tx import ReadTx, Tx
from moot.documents import ownership
from moot.jobs import jobs
from moot.proposals import proposals
from moot.registry import agents, hosts, runs
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.runner import phases
from moot.runner.react import react
from moot.runner.reactions.begin_talk import KICKOFF
from moot.store.store import Store
from moot.tools import talk, voting
from moot.tools.talk import Words
from moot.tools.voting import Paper
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Context, Workflow
from tests.registry.house import House, build

NAMES = ("ann", "ben")
ELECTED = Workflow(
    "review", "review.yaml", tuple(AgentDefinition(name, "scripted") for name in NAMES), kickoff="@ann go"
)


class Stage:
    """An instance in which runs follow one another."""

    def __init__(self, house: House, host: HostId) -> None:
        self.house = house
        self.host = host

    async def launch(self, workflow: Workflow = ELECTED) -> Run:
        members = [NewAgent(one.name, backend="scripted") for one in workflow.agents]

        def change(tx: Tx) -> Run:
            new = NewRun(workflow.name, workflow.file, "run", stored.to_json(workflow), {}, self.host)
            return phases.launch(tx, self.house.instance, new, members)

        return await self.house.write(change)

    async def begin(self, run: Run) -> Run:
        """Setup is over."""
        await self.house.write(lambda tx: phases.begin(tx, runs.get(tx, run.id)))
        return await self.now(run)

    async def now(self, run: Run) -> Run:
        return await self.house.read(lambda tx: runs.get(tx, run.id))

    async def said(self) -> list[str]:
        found = await self.house.read(lambda tx: messages.latest(tx, self.house.stream, 100))
        return [one.body.splitlines()[0] for one in found]

    async def kickoffs(self) -> int:
        live = await self.house.read(lambda tx: jobs.live(tx, self.house.stream))
        return sum(job.kind == KICKOFF for job in live)


@pytest.fixture
async def stage(store: Store) -> Stage:
    house = await build(store)
    return Stage(house, await house.write(lambda tx: hosts.register(tx, NewHost("here", "1", ("run",)))))


def without_election(kickoff: str = "@ann go") -> Workflow:
    context = Context(owner_rule="none")
    return Workflow("talk", "talk.yaml", ELECTED.agents, context=context, kickoff=kickoff)


def unread(tx: ReadTx, stage: Stage, name: str) -> list[str]:
    agent = agents.named(tx, stage.house.stream, name)
    return [f"{one.state} {one.body}" for one in mailbox.unread(tx, agent.id, 100)]


def vote(tx: Tx, stage: Stage, name: str, choice: str) -> None:
    election = proposals.latest_for(tx, stage.house.stream, "document_owner")
    assert election is not None
    voter = agents.named(tx, stage.house.stream, name)
    voting.cast(tx, stage.house.instance, voter, Paper(election.id, choice))


async def test_the_first_words_are_said_once(stage: Stage) -> None:
    run = await stage.launch(without_election())
    for _ in range(2):
        run = await stage.begin(run)
    assert (run.phase, await stage.said()) == ("talk", ["@ann go"])


async def test_what_is_said_during_setup_waits_for_the_first_words(stage: Stage) -> None:
    """Also for an agent that is not of the run."""
    await stage.house.write(lambda tx: agents.ensure(tx, stage.house.instance, NewAgent("eve", backend="scripted")))
    run = await stage.launch(without_election())
    here, early = stage.house.instance, Words("@ben @eve are you there?")
    await stage.house.write(lambda tx: talk.say(tx, here, agents.person(tx, here), early))
    await stage.house.write(react)

    def woken(tx: ReadTx) -> set[str]:
        live = [job for job in jobs.live(tx, stage.house.stream) if job.kind == "attempt"]
        return {agents.get(tx, AgentId(job.subject)).name for job in live}

    assert await stage.house.read(woken) == set()
    await stage.begin(run)
    await stage.house.write(react)
    assert await stage.house.read(woken) == {"ann", "ben", "eve"}


async def test_an_election_comes_before_the_first_words(stage: Stage) -> None:
    run = await stage.begin(await stage.launch())
    assert run.phase == "election"
    assert [line.split("]")[0] for line in await stage.said()] == ["[PROPOSAL:doc-owner-001"]
    await stage.house.write(lambda tx: [vote(tx, stage, name, "ben") for name in NAMES])
    await stage.house.write(react)
    assert await stage.kickoffs() == 1
    assert (await stage.house.read(lambda tx: ownership.ownership(tx, run.instance))).owner == "ben"


async def test_the_election_of_a_run_before_ends_with_it(stage: Stage) -> None:
    first = await stage.begin(await stage.launch())
    await stage.house.write(lambda tx: vote(tx, stage, "ann", "ann"))
    await stage.house.write(lambda tx: runs.end(tx, first, "interrupted"))
    second = await stage.begin(await stage.launch())
    await stage.house.write(react)
    open_ones = await stage.house.read(lambda tx: proposals.open_of(tx, stage.house.stream))
    assert [one.id for one in open_ones] == ["doc-owner-002"]
    assert await stage.kickoffs() == 0
    found = await stage.house.read(lambda tx: ownership.ownership(tx, second.instance))
    assert (found.owner, found.election) == (None, "doc-owner-002")


async def test_a_run_whose_election_ended_meanwhile_goes_on_though_something_else_is_voted_on(stage: Stage) -> None:
    run = await stage.begin(await stage.launch())

    def propose(tx: Tx) -> None:
        electors = voting.electorate(tx, stage.house.instance)
        new = proposals.NewProposal(
            stage.house.stream, run.instance, "approval", "Ship?", creator="ann", electors=electors
        )
        voting.start(tx, stage.house.instance, new)

    await stage.house.write(propose)
    await stage.house.write(lambda tx: runs.end(tx, run, "interrupted"))
    await stage.house.write(lambda tx: [vote(tx, stage, name, "ben") for name in NAMES])
    await stage.house.write(lambda tx: phases.carry_on(tx, runs.resume(tx, run.instance, stage.host), {}))
    assert (await stage.now(run)).phase == "talk"


async def test_closing_a_run_that_is_over_touches_nobody(stage: Stage) -> None:
    """Whoever attended it may have overslept while another run began with the same agents."""
    first = await stage.begin(await stage.launch(without_election()))
    await stage.house.write(lambda tx: runs.end(tx, first, "interrupted"))
    second = await stage.begin(await stage.launch(without_election()))
    assert await stage.house.write(lambda tx: phases.close(tx, first.id, "stopped", ""))
    assert (await stage.now(second)).state == "live"
    members = await stage.house.read(lambda tx: phases.members_of(tx, second))
    assert [one.stopped_at for one in members] == [None, None]


async def test_mail_of_the_run_before_is_not_the_next_ones_but_what_came_between_is(stage: Stage) -> None:
    first = await stage.begin(await stage.launch(without_election()))
    await stage.house.write(lambda tx: hosts.stop(tx, stage.host))  # killed: nobody has ended the run
    stage.host = await stage.house.write(lambda tx: hosts.register(tx, NewHost("here", "2", ("run",))))
    await stage.launch(without_election())
    assert await stage.house.read(lambda tx: unread(tx, stage, "ann")) == []
    second = await stage.house.read(lambda tx: runs.live(tx, first.instance))
    assert second is not None
    await stage.house.write(lambda tx: phases.close(tx, second.id, "stopped", ""))
    await stage.house.write(lambda tx: talk.say(tx, stage.house.instance, None, Words("@ben for later")))
    await stage.launch(without_election())
    assert await stage.house.read(lambda tx: unread(tx, stage, "ben")) == ["queued @ben for later"]


async def test_a_run_that_was_resumed_leaves_its_last_mail_behind_too(stage: Stage) -> None:
    first = await stage.begin(await stage.launch(without_election()))
    await stage.house.write(lambda tx: runs.end(tx, first, "interrupted"))
    await stage.house.write(lambda tx: phases.carry_on(tx, runs.resume(tx, first.instance, stage.host), {}))
    await stage.house.write(lambda tx: talk.say(tx, stage.house.instance, None, Words("@ben after resuming")))
    await stage.house.write(lambda tx: phases.close(tx, first.id, "stopped", ""))
    await stage.launch(without_election())
    assert await stage.house.read(lambda tx: unread(tx, stage, "ben")) == []


async def test_who_was_stopped_keeps_its_mail_when_the_run_ends(stage: Stage) -> None:
    run = await stage.begin(await stage.launch(without_election()))
    await stage.house.write(lambda tx: phases.close(tx, run.id, "failed", "ann was stopped"))
    assert await stage.house.read(lambda tx: unread(tx, stage, "ann")) == ["queued @ann go"]
