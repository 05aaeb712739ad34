"""Tasks of a run go to whoever is free and fits, by mail; what they come to decides what is handed out next."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from moot.board import boards, checks, claims, laying, progress, tasks
from moot.board.claims import Holder
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.bus import mailbox, messages
from moot.bus.messages import Message
from moot.core.ids import BoardId, HostId, InstanceName
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite
from moot.registry import agents, hosts, runs, stopping
from moot.registry.agents import Agent, NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.runner import handing_out, phases, plan_section
from moot.runner.react import react
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import asking, isolation, verifying
from moot.tools.asking import Question
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Context, TaskDefinition, TaskNeed, Workflow
from moot.workspaces import workspaces
from tests.registry.house import House, build
from tests.workspaces import repos
from tests.workspaces.repos import Repo

HAND = "tk_of_an_attempt"


@dataclass
class Stage:
    """A run with a plan, whose jobs the test carries out itself."""

    house: House
    host: HostId

    async def launch(self, workflow: Workflow, settings: Mapping[str, Mapping[str, Json]] | None = None) -> Run:
        members = [
            NewAgent(
                one.name,
                backend=str(one.backend),
                capabilities=one.capabilities,
                settings=(settings or {}).get(one.name, {}),
            )
            for one in workflow.agents
        ]

        def change(tx: Tx) -> Run:
            new = NewRun(workflow.name, workflow.file, "run", stored.to_json(workflow), {}, self.host)
            run = phases.launch(tx, self.house.instance, new, members)
            phases.begin(tx, run)
            return run

        return await self.house.write(change)

    async def plan(self, *planned: TaskDefinition, names: str = "ann ben", most: int = 1) -> Run:
        return await self.come_to_tasks(a_workflow(*planned, names=names, most=most))

    async def come_to_tasks(self, workflow: Workflow, settings: Mapping[str, Mapping[str, Json]] | None = None) -> Run:
        """A run whose agents are handed what is ready."""
        run = await self.launch(workflow, settings)
        assert await self.house.write(lambda tx: phases.begin_tasks(tx, runs.get(tx, run.id)))
        await self.work()
        return run

    async def work(self) -> None:
        """React to what has happened, and hand out what that allows."""

        def carry_out(tx: Tx) -> bool:
            react(tx)
            taken = jobs.take(tx, Appetite(self.host, others=100))
            for job in taken:
                if job.kind == handing_out.HAND_OUT:
                    handing_out.hand_out(tx, job)
                else:
                    jobs.finish(tx, job)
            return bool(taken)

        while await self.house.write(carry_out):
            pass

    async def task(self, name: str) -> Task:
        def look(tx: ReadTx) -> Task:
            run = runs.latest(tx, self.house.instance.name)
            assert run is not None
            found = tasks.named(tx, BoardId(run.id), name)
            assert found is not None, name
            return found

        return await self.house.read(look)

    async def agent(self, name: str) -> Agent:
        return await self.house.read(lambda tx: agents.named(tx, self.house.stream, name))

    async def held(self) -> dict[str, str]:
        """Who holds what."""

        def look(tx: ReadTx) -> dict[str, str]:
            members = agents.members(tx, self.house.stream)
            return {one.name: task.name for one in members for task in tasks.held_by(tx, one.id)}

        return await self.house.read(look)

    async def ends(self, name: str, text: str = "It is done.") -> None:
        """An attempt of this agent begins, and succeeds with these words."""
        agent = await self.agent(name)

        def change(tx: Tx) -> None:
            handing_out.take_in_hand(tx, agent.id, HAND)
            handing_out.finish(tx, agent, HAND, text)

        await self.house.write(change)
        await self.work()

    async def fails(self, name: str, error: str = "it broke") -> None:
        agent = await self.agent(name)
        await self.house.write(lambda tx: handing_out.fail(tx, agent, error))
        await self.work()

    async def status(self) -> str:
        run = await self.house.read(lambda tx: runs.latest(tx, self.house.instance.name))
        assert run is not None
        return (await self.house.read(lambda tx: boards.get(tx, BoardId(run.id)))).status

    async def trouble(self, run: Run) -> str:
        return await self.house.read(lambda tx: plan_section.trouble(tx, runs.get(tx, run.id)))

    async def told(self) -> list[Message]:
        """What was said of tasks."""
        found = await self.house.read(lambda tx: messages.latest(tx, self.house.stream, 100))
        return [one for one in found if one.kind == "task"]


@pytest.fixture
async def stage(store: Store) -> Stage:
    house = await build(store)
    return Stage(house, await house.write(lambda tx: hosts.register(tx, NewHost("here", "1", ("run",)))))


def a_workflow(*planned: TaskDefinition, names: str = "ann ben", most: int = 1, **more: Any) -> Workflow:
    """`ben+python` is an agent that can do something; `eve@human` one that is not started by moot."""
    own = tuple(_agent(name) for name in names.split())
    shared = Context(owner_rule="none")
    return Workflow("plan", "plan.yaml", own, context=shared, tasks=planned, max_parallel_tasks=most, **more)


def _agent(spelled: str) -> AgentDefinition:
    rest, _, ability = spelled.partition("+")
    name, _, backend = rest.partition("@")
    found: Any = backend or "scripted"
    return AgentDefinition(name, found, capabilities=(ability,) if ability else ())


def task(name: str, *needs: str, **more: Any) -> TaskDefinition:
    return TaskDefinition(name, f"do {name}", tuple(TaskNeed(one) for one in needs), **more)


async def test_one_at_a_time_in_the_order_of_the_plan(stage: Stage) -> None:
    await stage.plan(task("c"), task("a"), task("b"))
    done: list[str] = []
    while held := await stage.held():
        ((name, one),) = held.items()
        done.append(one)
        await stage.ends(name)
    assert (done, await stage.status()) == (["c", "a", "b"], "completed")


async def test_as_many_as_may_be_worked_on_at_once_each_by_another(stage: Stage) -> None:
    await stage.plan(task("a"), task("b"), task("c"), task("d"), names="ann ben eve", most=2)
    assert await stage.held() == {"ann": "a", "ben": "b"}
    await stage.ends("ann")
    assert await stage.held() == {"ann": "c", "ben": "b"}


async def test_nobody_gets_a_second_task_beside_the_first(stage: Stage) -> None:
    await stage.plan(task("a"), task("b"), names="ann", most=2)
    assert await stage.held() == {"ann": "a"}


async def test_a_task_goes_to_whom_it_is_meant_for(stage: Stage) -> None:
    """Who waits for somebody else does not keep others from what they can do."""
    await stage.plan(task("a", agent="ben"), task("b", agent="ben"), task("c"), most=3)
    assert await stage.held() == {"ben": "a", "ann": "c"}
    await stage.ends("ann")
    assert await stage.held() == {"ben": "a"}
    await stage.ends("ben")
    assert await stage.held() == {"ben": "b"}


async def test_a_task_goes_to_somebody_who_can_do_it(stage: Stage) -> None:
    await stage.plan(task("a", capabilities=("python",)), task("b"), names="ann ben+python", most=2)
    assert await stage.held() == {"ben": "a", "ann": "b"}


async def test_people_and_those_from_outside_are_given_only_what_is_meant_for_them(stage: Stage) -> None:
    meant = (task("a", agent="eve"), task("b", agent="sue"))
    run = await stage.plan(*meant, task("c"), names="eve@human sue@external", most=3)
    assert await stage.held() == {"eve": "a", "sue": "b"}
    assert [len(await stage.house.unread(await stage.agent(name))) for name in ("eve", "sue")] == [1, 1]
    await stage.ends("eve")
    assert (await stage.held(), await stage.trouble(run)) == ({"sue": "b"}, "nobody here can do: c")


async def test_what_waits_for_another_is_handed_out_when_that_is_done(stage: Stage) -> None:
    await stage.plan(task("a"), task("b", "a"), task("c", "b"), most=3)
    assert await stage.held() == {"ann": "a"}
    await stage.ends("ann", "It was line 7.")
    assert set((await stage.held()).values()) == {"b"}
    told = (await stage.told())[-1]
    assert told.body.startswith(f"[TASK:{(await stage.task('b')).id}] b\n\ndo b")
    assert "What it builds on:\n- a: It was line 7." in told.body


async def test_the_mail_names_the_task_and_wakes_nobody_by_what_it_says(stage: Stage) -> None:
    await stage.plan(TaskDefinition("a", "ask @ben about it", checks=({"file": "x.txt"},)))
    (told,) = await stage.told()
    assert (told.task_id, told.sender) == ((await stage.task("a")).id, "system")
    assert "It counts as done when:\n- the file x.txt is there" in told.body
    assert [len(await stage.house.unread(await stage.agent(name))) for name in ("ann", "ben")] == [1, 0]


async def test_a_plan_that_wants_it_has_a_worktree_for_each_task_and_says_where(stage: Stage, tmp_path: Path) -> None:
    repo, own = repos.make(tmp_path / "project"), tmp_path / "project" / ".workflow"
    own.mkdir()
    planned = (task("a", agent="eve"), task("b", agent="ben"), task("c", agent="ann"))
    workflow = a_workflow(*planned, names="ann ben eve@human", most=3, makes_workspaces=True)
    await stage.come_to_tasks(workflow, {"ann": {"workspace": "none"}})
    where = await stage.house.read(
        lambda tx: {one.branch: one for one in workspaces.all_of(tx, InstanceName("default"))}
    )
    assert list(where) == ["moot/default/a", "moot/default/b"]  # who works nowhere in the project needs none
    told = {one.body.split()[1]: one.body for one in await stage.told()}
    named = "It has a worktree of its own on the branch moot/default/"
    assert [name for name in "abc" if f"{named}{name} (workspace ws_" in told[name]] == ["a", "b"]
    # The next attempt of its agent has it in hand, and works there; who has nothing in hand does not.
    ben = await stage.agent("ben")
    await stage.house.write(lambda tx: handing_out.take_in_hand(tx, ben.id, HAND))
    worktrees = Worktrees(stage.house.store, repo.top, own)
    place = await worktrees.of_task(ben, HAND)
    assert place is not None
    assert place == own / "worktrees" / where["moot/default/b"].id
    assert Repo(place).git("branch", "--show-current") == "moot/default/b"
    assert await worktrees.of_task(ben, "another") is None
    # What was merged meanwhile, and is sent back by a check, goes on there.
    await stage.house.write(lambda tx: isolation.ask(tx, where["moot/default/b"].id, "merge"))
    await worktrees.carry_out(where["moot/default/b"].id)
    assert await worktrees.of_task(ben, HAND) == place
    assert (await stage.house.read(lambda tx: workspaces.get(tx, where["moot/default/b"].id))).status == "active"


async def test_the_last_words_are_the_outcome(stage: Stage) -> None:
    await stage.plan(task("a"), task("b"), names="ann")
    await stage.ends("ann", "  All of it.\n")
    await stage.ends("ann", " \n")
    found = [await stage.task(name) for name in "ab"]
    assert [one.outcome for one in found] == ["All of it.", "ann ended without a word."]
    assert [one.done_by for one in found] == [(await stage.agent("ann")).id] * 2


async def test_what_was_said_of_it_before_stands(stage: Stage) -> None:
    await stage.plan(task("a"), names="ann")
    agent = await stage.agent("ann")

    def say(tx: Tx) -> None:
        (held,) = tasks.held_by(tx, agent.id)
        progress.complete(tx, tasks.locked(tx, held.id), Result("by a tool", by=agent.id))

    await stage.house.write(say)
    await stage.ends("ann", "and a few words more")
    assert (await stage.task("a")).outcome == "by a tool"


async def test_what_another_attempt_holds_is_not_ended_by_this_one(stage: Stage) -> None:
    await stage.plan(task("a"), names="ann")
    agent = await stage.agent("ann")
    await stage.house.write(lambda tx: handing_out.take_in_hand(tx, agent.id, "the next"))
    await stage.house.write(lambda tx: handing_out.finish(tx, agent, HAND, "late words"))
    assert (await stage.held(), (await stage.task("a")).outcome) == ({"ann": "a"}, None)


async def test_checks_are_made_before_it_counts_as_done(stage: Stage) -> None:
    await stage.plan(task("a", checks=({"file": "x.txt"},)), task("b", "a"), most=2)
    await stage.ends("ann", "made it")
    found = await stage.task("a")
    assert (found.status, found.outcome) == ("verifying", "made it")
    assert await stage.held() == {"ann": "a"}
    assert [one.state for one in await stage.house.read(lambda tx: checks.latest(tx, found.id))] == ["waiting"]
    (check,) = await stage.house.read(lambda tx: checks.latest(tx, found.id))
    await stage.house.write(lambda tx: verifying.settle(tx, check, None))
    await stage.work()
    assert await stage.held() == {"ann": "b"}


async def test_who_waits_for_an_answer_keeps_its_task(stage: Stage) -> None:
    await stage.plan(task("a"), task("b"))
    agent = await stage.agent("ann")
    question = Question("human", "question", "Which one?", "")
    asked = await stage.house.write(lambda tx: asking.ask(tx, stage.house.instance, agent, question))
    await stage.ends("ann", "I have asked.")
    assert (await stage.held(), (await stage.task("a")).status) == ({"ann": "a"}, "planning")
    await stage.house.write(
        lambda tx: asking.cancel(
            tx, stage.house.instance, asked.id, agents.person(tx, stage.house.instance), is_operator=True
        )
    )
    await stage.ends("ann", "The first.")
    assert (await stage.task("a")).outcome == "The first."


async def test_who_is_given_up_fails_its_task_and_what_needs_it_waits(stage: Stage) -> None:
    run = await stage.plan(task("a"), task("b", "a"), task("c"), names="ann ben")
    await stage.fails("ann", "no such model")
    found = await stage.task("a")
    assert (found.status, found.error, (await stage.task("b")).is_blocked) == ("failed", "no such model", True)
    assert await stage.held() == {"ann": "c"}
    await stage.ends("ann")
    assert (await stage.held(), await stage.status()) == ({}, "failed")
    assert await stage.trouble(run) == "a failed; try again with: moot retry, then moot resume"


async def test_what_has_failed_is_handed_out_again_with_the_reason(stage: Stage) -> None:
    await stage.plan(task("a"), task("b", "a"), names="ann")
    await stage.fails("ann", "no such model")
    await stage.house.write(lambda tx: progress.retry(tx, _locked(tx, stage, "a")))
    await stage.work()
    assert await stage.held() == {"ann": "a"}
    assert "It was tried before, and failed: no such model" in (await stage.told())[-1].body


def _locked(tx: Tx, stage: Stage, name: str) -> Task:
    run = runs.latest(tx, stage.house.instance.name)
    found = run and tasks.named(tx, BoardId(run.id), name)
    assert found is not None
    return tasks.locked(tx, found.id)


async def test_what_was_claimed_with_a_lease_does_not_fail_with_its_mail(stage: Stage) -> None:
    """Who took it by a tool of its own gives signs of life, or loses it."""
    await stage.plan(task("a"), names="ann")
    agent = await stage.agent("ann")
    found = await stage.task("a")
    again = Holder(agent.id, "ann", "")
    await stage.house.write(lambda tx: claims.claim(tx, found.id, again, found.stream))
    await stage.house.write(lambda tx: handing_out.fail(tx, agent, "broke"))
    assert (await stage.task("a")).status == "planning"


async def test_a_task_that_is_taken_from_its_holder_goes_to_the_next(stage: Stage) -> None:
    await stage.plan(task("a"))
    ann = await stage.agent("ann")
    await stage.house.write(lambda tx: stopping.stop(tx, ann))
    await stage.house.write(lambda tx: claims.release(tx, _locked(tx, stage, "a"), "taken away"))
    await stage.work()
    assert await stage.held() == {"ben": "a"}


@pytest.mark.parametrize("status", ["paused", "abandoned"])
async def test_nothing_is_handed_out_of_a_plan_that_rests(stage: Stage, status: Any) -> None:
    run = await stage.plan(task("a"), task("b"), most=1)
    await stage.house.write(lambda tx: progress.move_board(tx, BoardId(run.id), status))
    await stage.ends("ann")
    assert (await stage.held(), await stage.trouble(run)) == ({}, f"the plan is {status}")
    if status == "paused":
        await stage.house.write(lambda tx: progress.move_board(tx, BoardId(run.id), "in_progress"))
        await stage.work()
        assert await stage.held() == {"ann": "b"}


async def test_a_run_that_is_paused_hands_out_nothing_until_it_goes_on(stage: Stage) -> None:
    run = await stage.plan(task("a"), task("b"))
    await stage.house.write(lambda tx: runs.pause(tx, run, is_paused=True))
    await stage.ends("ann")
    assert await stage.held() == {}
    await stage.house.write(lambda tx: phases.close(tx, run.id, "interrupted", "x"))
    await stage.house.write(lambda tx: phases.carry_on(tx, runs.resume(tx, run.instance, stage.host), {}))
    await stage.work()
    assert await stage.held() == {"ann": "b"}


async def test_a_run_that_was_interrupted_goes_on_with_what_was_held(stage: Stage) -> None:
    run = await stage.plan(task("a"), task("b", "a"))
    await stage.house.write(lambda tx: phases.close(tx, run.id, "interrupted", "x"))
    await stage.house.write(lambda tx: phases.carry_on(tx, runs.resume(tx, run.instance, stage.host), {}))
    await stage.work()
    assert await stage.held() == {"ann": "a"}
    assert len(await stage.told()) == 1  # it is not told twice
    await stage.ends("ann")
    assert await stage.held() == {"ann": "b"}


async def test_the_plan_of_a_run_that_is_left_behind_is_abandoned(stage: Stage) -> None:
    first = await stage.plan(task("a"))
    await stage.house.write(lambda tx: phases.close(tx, first.id, "interrupted", "x"))
    second = await stage.plan(task("z"))
    found = await stage.house.read(lambda tx: [boards.get(tx, BoardId(one.id)).status for one in (first, second)])
    assert found == ["abandoned", "in_progress"]
    assert await stage.held() == {"ann": "z"}


async def test_tasks_begin_when_the_talk_is_over(stage: Stage) -> None:
    run = await stage.launch(a_workflow(task("a"), kickoff="@ben what do you think?"))
    await stage.work()
    assert await stage.held() == {}
    assert not await stage.house.write(lambda tx: phases.close(tx, run.id, "done", ""))  # ben has mail
    await _read_all(stage, "ben")
    assert not await stage.house.write(lambda tx: phases.close(tx, run.id, "done", ""))  # its tasks begin
    await stage.work()
    assert await stage.held() == {"ann": "a"}


async def _read_all(stage: Stage, name: str) -> None:
    """An attempt of this agent has begun and ended."""
    agent = await stage.agent(name)

    def change(tx: Tx) -> None:
        mailbox.bury(tx, agent.id)
        for job in jobs.take(tx, Appetite(stage.host, attempts=100)):
            jobs.finish(tx, job)

    await stage.house.write(change)


async def test_together_they_begin_with_the_first_words(stage: Stage) -> None:
    await stage.launch(a_workflow(task("a"), kickoff="@ben what do you think?", is_together=True))
    await stage.work()
    assert await stage.held() == {"ann": "a"}
    assert len(await stage.house.unread(await stage.agent("ben"))) == 1


async def test_a_plan_of_somebody_else_is_not_handed_out(stage: Stage) -> None:
    """Only the tasks of the file are; what agents plan among themselves, they claim themselves."""
    await stage.plan(task("a"))

    def change(tx: Tx) -> None:
        here = stage.house.instance
        new = boards.NewBoard(here.name, here.stream, "another", "prompt", "")
        plan = plan_section.plan_of(a_workflow(task("other")))
        laying.set_plan(tx, boards.create(tx, new).id, plan)

    await stage.house.write(change)
    await stage.work()
    assert await stage.held() == {"ann": "a"}
