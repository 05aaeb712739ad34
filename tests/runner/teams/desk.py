"""A team in a run whose jobs and turns a test carries out itself, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.board import boards, laying, tasks
from moot.board.boards import Board
from moot.board.plans import Plan, Planned
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.bus import mailbox, messages
from moot.bus.messages import Kind, Message
from moot.core.caller import Caller
from moot.core.ids import AttemptId, BoardId, HostId, MessageId, TokenId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, NewJob
from moot.registry import agents, attempts, hosts, runs
from moot.registry.agents import Agent, NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.requests import requests
from moot.requests.requests import Answerer, Request
from moot.requests.requests import Verdict as Answer
from moot.runner import handing_out, phases
from moot.runner.react import react
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.runner.teams import advancing, situation, turns
from moot.runner.teams.material import MaterialWorker
from moot.runner.teams.turns import Turn
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.teams import reviews, teams
from moot.teams.reviews import Issue, Verdict
from moot.teams.teams import Team
from moot.tools import asking, doing, talk, teamwork
from moot.tools.asking import Reply
from moot.tools.talk import Words
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Backend, Context, TeamDefinition, Workflow
from tests.registry.house import House, build

HANDOFF = "done: it; evidence: make test; risk: none; next: review"
WORKERS = ("worker-1", "worker-2")
Call = Callable[[Tx, Caller], object]


def planned(*names: str) -> tuple[Planned, ...]:
    """`a worker-1` is a task for somebody, `a` for anybody."""
    parts = (one.partition(" ") for one in names)
    return tuple(Planned(name, f"do {name}", assigned=who or None, files=(f"{name}.py",)) for name, _, who in parts)


@dataclass(frozen=True)
class Desk:
    house: House
    host: HostId
    run: Run
    worktrees: Worktrees

    async def work(self, *, is_blind: bool = False) -> None:
        """React, hand out, look, write down what was changed: until only turns are left to be taken. Who is blind looks
        too early to see anything."""
        while True:
            material = await self.house.write(lambda tx: self._carry_out(tx, is_blind=is_blind))
            if material is None:
                return
            for job in material:
                await MaterialWorker(self.house.store, self.worktrees)._carry_out(job)  # pyright: ignore[reportPrivateUsage]

    def _carry_out(self, tx: Tx, *, is_blind: bool) -> list[Job] | None:
        react(tx)
        taken = jobs.take(tx, Appetite(self.host, others=100))
        left: list[Job] = []
        for job in taken:
            match job.kind:
                case handing_out.HAND_OUT:
                    handing_out.hand_out(tx, job)
                case teamwork.LOOK if is_blind:
                    jobs.finish(tx, job)
                case teamwork.LOOK:
                    advancing.advance(tx, job)
                case situation.MATERIAL:
                    left.append(job)
                case _:
                    teamwork.finish(tx, job)
        return left if taken else None

    async def looks_early(self) -> None:
        """Somebody looks at the team before anybody has reacted to what came last."""
        job = await self.takes(NewJob("early", teamwork.LOOK, self.run.stream, self.run.id))
        await self.house.write(lambda tx: advancing.advance(tx, job))

    async def takes(self, new: NewJob) -> Job:
        """A host has this job in hand, and only this."""

        def change(tx: Tx) -> Job:
            jobs.add(tx, new)
            found: Job | None = None
            for job in jobs.take(tx, Appetite(self.host, others=100)):
                if job.key == new.key:
                    found = job
                else:
                    jobs.put_back(tx, job)
            assert found is not None
            return found

        return await self.house.write(change)

    async def turn(self, name: str, text: str = "", call: Call | None = None) -> None:
        """An attempt of this member: it reads its mail, calls something, and ends with these words."""
        await self.turn_unseen(name, text, call)
        await self.work()

    async def turn_unseen(self, name: str, text: str = "", call: Call | None = None) -> None:
        """The same, and what follows from it is not done yet."""

        def change(tx: Tx) -> None:
            agent = agents.named(tx, self.house.stream, name)
            job = _own_job(tx, self.host, agent)
            attempt = attempts.start(
                tx, NewAttempt(agent.id, agent.stream, job.id, job.fence, 1, self.host, self.run.id)
            )
            mailbox.hand_out(tx, agent.id, attempt, 50)
            hand = f"tk_{attempt}"
            handing_out.take_in_hand(tx, agent.id, hand)
            if call is not None:
                call(tx, _caller(agent, hand, attempt))
            jobs.finish(tx, job)
            attempts.end(tx, attempt, "succeeded")
            mailbox.ack_attempt(tx, agent.id, attempt)
            turns.end(tx, Turn(runs.get(tx, self.run.id), agent, hand, attempt, text))

        await self.house.write(change)

    async def plans(self, *names: str) -> None:
        """The lead makes this plan, and ends its turn."""
        plan = Plan("a plan", tasks=planned(*names))
        await self.turn("lead", call=lambda tx, caller: laying.set_plan(tx, BoardId(self.run.id), plan))

    async def plans_itself(self, *names: str) -> None:
        """A lead that moot does not start makes this plan."""
        plan = Plan("a plan", tasks=planned(*names))
        await self.house.write(lambda tx: laying.set_plan(tx, BoardId(self.run.id), plan))
        await self.work()

    async def reports(self, name: str, verdict: Verdict, *issues: Issue) -> None:
        await self.turn(name, call=lambda tx, caller: reviews.give(tx, self._team(tx), name, verdict, issues))

    async def says_itself(self, name: str, body: str, kind: Kind, *to: str, reply_to: MessageId | None = None) -> None:
        """Somebody that moot does not start."""

        def change(tx: Tx) -> None:
            agent = agents.named(tx, self.house.stream, name)
            talk.say(tx, self.house.instance, agent, Words(body, to=to, kind=kind, reply_to=reply_to))

        await self.house.write(change)
        await self.work()

    async def acknowledges(self, name: str) -> None:
        """Somebody that moot does not start has read its mail, and does nothing about it yet."""

        def change(tx: Tx) -> None:
            agent = agents.named(tx, self.house.stream, name)
            for one in mailbox.unread(tx, agent.id, 100):
                mailbox.ack_one(tx, agent.id, one.seq)

        await self.house.write(change)
        await self.work()

    async def says(self, name: str, body: str, kind: Kind, *to: str) -> None:
        """In a turn that ends with it."""

        def call(tx: Tx, caller: Caller) -> None:
            agent = agents.named(tx, self.house.stream, name)
            talk.say(tx, self.house.instance, agent, Words(body, to=to, kind=kind, attempt=caller.attempt))

        await self.turn(name, call=call)

    async def fails(self, name: str, task: str, error: str) -> None:
        def call(tx: Tx, caller: Caller) -> None:
            found = tasks.named(tx, BoardId(self.run.id), task)
            assert found is not None
            doing.update(tx, caller, found.id, "failed", Result(error=error))

        await self.turn(name, call=call)

    def _team(self, tx: ReadTx) -> Team:
        return teams.get(tx, self.house.instance.name)

    async def team(self) -> Team:
        return await self.house.read(self._team)

    async def stage(self) -> str:
        team = await self.team()
        return f"{team.stage} {team.round}"

    async def way(self) -> list[str]:
        """The stages that it has come to, in order."""
        return [str(one.data["to"]) for one in await self.house.events() if one.kind == teams.STAGE]

    async def board(self) -> Board:
        return await self.house.read(lambda tx: boards.get(tx, BoardId(self.run.id)))

    async def task(self, name: str) -> Task:
        found = await self.house.read(lambda tx: tasks.named(tx, BoardId(self.run.id), name))
        assert found is not None, name
        return found

    async def listed(self) -> list[tuple[str, str | None, str]]:
        found = await self.house.read(lambda tx: tasks.page(tx, BoardId(self.run.id)))
        return [(one.name, one.assigned, one.status) for one in found]

    async def unread(self, name: str) -> list[str]:
        def look(tx: ReadTx) -> list[str]:
            agent = agents.named(tx, self.house.stream, name)
            return [one.body for one in mailbox.unread(tx, agent.id, 100)]

        return await self.house.read(look)

    async def said(self) -> list[Message]:
        return await self.house.read(lambda tx: messages.latest(tx, self.house.stream, 1000))

    async def asked(self) -> list[Request]:
        return await self.house.read(lambda tx: requests.open_of(tx, self.house.stream))

    async def agent(self, name: str) -> Agent:
        return await self.house.read(lambda tx: agents.named(tx, self.house.stream, name))

    async def to_review(self) -> None:
        """Everything is planned and done."""
        await self.plans("a worker-1", "b worker-2")
        for name in WORKERS:
            await self.turn(name, HANDOFF)


def _own_job(tx: Tx, host: HostId, agent: Agent) -> Job:
    """The job that has it read its mail; those of others wait as if nobody had looked at them."""
    found: Job | None = None
    for job in jobs.take(tx, Appetite(host, attempts=100)):
        if job.subject == agent.id and job.kind == ATTEMPT:
            found = job
        else:
            jobs.put_back(tx, job)
    assert found is not None, f"nothing wakes {agent.name}"
    return found


def _caller(agent: Agent, hand: str, attempt: AttemptId) -> Caller:
    return Caller(agent.name, agent.role, agent.instance, agent.id, TokenId(hand), attempt)


async def answer(desk: Desk, verdict: Answer, text: str = "") -> None:
    """What the person says to the only request there is."""
    (asked,) = await desk.asked()

    def change(tx: Tx) -> None:
        person = agents.person(tx, desk.house.instance)
        by = Answerer(person.name, person.id, is_operator=True)
        asking.answer(tx, desk.house.instance, asked.id, Reply(verdict, text), by)

    await desk.house.write(change)
    await desk.work()


def workflow(lead: Backend = "scripted", workers: Sequence[str] = WORKERS, **terms: bool | int) -> Workflow:
    team = TeamDefinition("lead", ("reviewer-1",), tuple(workers), **terms)  # pyright: ignore[reportArgumentType]
    members = tuple(AgentDefinition(name, lead if name == "lead" else "scripted") for name in team.parts)
    return Workflow("crew", "/crew.yaml", members, context=Context(owner_rule="none"), kickoff="a goal", team=team)


async def launched(store: Store, folder: Path, wanted: Workflow | None = None) -> Desk:
    """A run whose lead has been told the goal."""
    house = await build(store)
    wanted = wanted or workflow()
    assert wanted.team is not None
    parts = wanted.team.parts
    roles = {"lead": "lead", "reviewer": "reviewer", "worker": "member"}

    def change(tx: Tx) -> tuple[HostId, Run]:
        host = hosts.register(tx, NewHost("here", "1:1", ("run",)))
        members = [
            NewAgent(
                one.name,
                backend=str(one.backend),
                role=roles[parts[one.name]],  # pyright: ignore[reportArgumentType]
                settings={
                    "workspace": "worktree" if parts[one.name] == "worker" else "shared",
                    **({} if one.tools is None else {"tools": list(one.tools)}),
                },
            )
            for one in wanted.agents
        ]
        new = NewRun(wanted.name, wanted.file, "run", stored.to_json(wanted), {}, host)
        run = phases.launch(tx, house.instance, new, members)
        for job in jobs.take(tx, Appetite(host, others=10)):  # the setup, which has nothing to do
            jobs.finish(tx, job)
        phases.begin(tx, run)
        return host, run

    host, run = await house.write(change)
    desk = Desk(house, host, run, Worktrees(store, folder, folder / ".workflow"))
    await desk.work()
    return desk
