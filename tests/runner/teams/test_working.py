"""Workers hand off in one form, hear of each other without being woken, and nobody waits for ever."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Ended, Progress
from moot.board import claims, progress, tasks
from moot.board.progress import Result
from moot.bus import mailbox
from moot.core.caller import Caller
from moot.core.ids import TaskId
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.process.guardian import Guardian
from moot.registry import agents, stopping
from moot.registry.agents import Agent
from moot.runner import endings
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.runner.verify_worker import VerifyWorker
from moot.store.store import Store
from moot.teams.handoffs import HandoffRefused
from moot.teams.reviews import Issue
from moot.tools import doing, verifying
from tests.runner.team import Team, make_host, running
from tests.runner.teams.desk import HANDOFF, Desk, launched, workflow


class Briefed:
    """A backend that notes what everybody is told."""

    def __init__(self) -> None:
        self.prompts: dict[str, str] = {}

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        self.prompts[assignment.agent] = (await assignment.brief()).system_prompt
        yield Ended()


async def test_all_tasks_done_and_nobody_with_mail_is_what_ends_the_work(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.turn("worker-1", HANDOFF)
    assert await desk.stage() == "working 1"
    await desk.says("worker-2", "@worker-1 look at mine", "message")
    await desk.turn("worker-2", HANDOFF)
    assert (await desk.board()).status == "completed"
    assert await desk.stage() == "working 1"  # worker-1 has mail
    await desk.turn("worker-1", "looked at it")
    assert await desk.stage() == "reviewing 1"


async def test_the_word_done_ends_nothing(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    await desk.turn("worker-1", "done. All is done, everything is done.")
    assert (await desk.task("a")).status == "planning"
    assert await desk.stage() == "working 1"


async def test_a_handoff_in_the_last_words_ends_the_task(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    await desk.turn("worker-1", f"I have looked at everything.\n\n{HANDOFF}")
    assert (await desk.task("a")).outcome == HANDOFF


@pytest.mark.parametrize(
    "outcome", ["it is done", "done: x; evidence: ; risk: y; next: z", "", "done: a; risk: b; next: c"]
)
async def test_an_outcome_in_another_form_is_refused_with_the_form(store: Store, tmp_path: Path, outcome: str) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    task = (await desk.task("a")).id

    def call(tx: Tx, caller: Caller) -> None:
        doing.update(tx, caller, task, "completed", Result(outcome))

    with pytest.raises(HandoffRefused, match="done: <what changed>; evidence: <tests/commands>; risk: "):
        await desk.turn("worker-1", call=call)
    assert (await desk.task("a")).status == "planning"


async def test_the_others_find_what_came_of_a_task_and_are_not_woken_by_it(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path, workflow(workers=("worker-1", "worker-2", "worker-3")))
    await desk.plans("a worker-1", "b worker-2")
    await desk.turn("worker-1", HANDOFF)
    (synced,) = [one for one in await desk.said() if one.body.startswith("peer-sync: ")]
    assert (synced.sender, synced.kind, synced.mentions) == ("worker-1", "status", ("worker-2", "worker-3"))
    assert synced.body == f"peer-sync: a: {HANDOFF}"
    found = await desk.house.read(lambda tx: mailbox.receipts(tx, synced.stream, synced.seq))
    assert [one.state for one in found] == ["acked", "acked"]
    assert await _woken(desk) == {"worker-2"}  # by its task


async def _woken(desk: Desk) -> set[str]:
    def look(tx: ReadTx) -> set[str]:
        names = {one.id: one.name for one in agents.members(tx, desk.house.stream)}
        return {names[one.subject] for one in jobs.live(tx, desk.house.stream) if one.kind == ATTEMPT}  # pyright: ignore[reportArgumentType]

    return await desk.house.read(look)


async def test_who_has_asked_keeps_its_task_until_it_is_answered(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.says("worker-1", "which colour?", "question", "lead")
    assert (await desk.task("a")).holder == (await desk.agent("worker-1")).id
    assert await desk.unread("worker-1") == []
    await desk.says("lead", "blue", "answer", "worker-1")
    await desk.turn("worker-1", HANDOFF)
    assert (await desk.task("a")).status == "completed"


async def test_who_ends_without_a_word_about_its_task_is_asked_for_it_at_once(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.turn("worker-1", "I am tired.")
    (told,) = await desk.unread("worker-1")
    assert "there was no hand-off" in told
    assert "done: <what changed>" in told
    await desk.turn("worker-1", HANDOFF)
    assert (await desk.task("a")).status == "completed"


async def test_a_worker_is_told_that_its_task_ends_with_a_hand_off_and_others_that_theirs_ends_with_their_turn(
    store: Store, tmp_path: Path
) -> None:
    wanted = workflow(workers=["worker-1"])
    members = tuple(replace(one, tools=("task_update_status",)) for one in wanted.agents)
    desk = await launched(store, tmp_path, replace(wanted, agents=members))
    await desk.says_itself("reviewer-1", "@worker-1 hello", "message")
    backend = Briefed()
    async with running(make_host(store, backend=backend)):
        await Team(store, desk.house.instance).until(lambda tx: len(backend.prompts) == 2)
    assert "If you just end, the task counts as done" in backend.prompts["lead"]
    assert "hand-off" not in backend.prompts["lead"]
    assert "unless your last words are its hand-off" in backend.prompts["worker-1"]
    assert "the task counts as done" not in backend.prompts["worker-1"]


async def test_who_never_hands_off_has_failed_and_the_lead_decides(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    for _ in range(3):
        await desk.turn("worker-1", "Still at it.")
    task = await desk.task("a")
    assert (task.status, task.error) == ("failed", "worker-1 has ended its turn 3 times without a hand-off.")
    (told,) = await desk.unread("lead")
    assert told.startswith(f"The task 'a' ({task.id}) has failed: worker-1 has ended")
    await desk.turn("lead", call=lambda tx, _: progress.skip(tx, tasks.locked(tx, task.id), Result("not needed")))
    await desk.turn("worker-2", HANDOFF)
    assert await desk.stage() == "reviewing 1"


async def test_a_question_that_nobody_answers_holds_nobody_up_for_ever(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    await desk.says("worker-1", "which colour?", "question", "lead")
    await desk.turn("lead")  # reads it, and says nothing
    (told,) = await desk.unread("worker-1")
    assert "if you wait for an answer that does not come, choose the best way around it" in told


async def test_a_failed_task_is_told_once_and_tried_again_if_the_lead_wants_that(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.fails("worker-1", "a", "no compiler")
    assert len(await desk.unread("lead")) == 1
    id: TaskId = (await desk.task("a")).id
    await desk.turn("lead", call=lambda tx, _: progress.retry(tx, tasks.locked(tx, id)))
    assert (await desk.task("a")).status == "planning"
    await desk.fails("worker-1", "a", "still no compiler")
    assert len(await desk.unread("lead")) == 1


async def test_who_leads_at_a_terminal_is_told_of_a_failed_task_by_what_can_be_typed(
    store: Store, tmp_path: Path
) -> None:
    desk = await launched(store, tmp_path, workflow(lead="human"))
    await desk.plans_itself("a worker-1", "b worker-2")
    await desk.fails("worker-1", "a", "no compiler")
    told = (await desk.unread("lead"))[-1]
    command = f"moot task retry {(await desk.task('a')).id} --instance {desk.house.instance.name}"
    assert f"type /plan FILE; or in another one: {command}, or the same with skip" in told
    assert "If you just end" not in told


async def test_a_failed_plan_that_the_lead_leaves_as_it_is_ends_the_team(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.fails("worker-1", "a", "no compiler")
    await desk.turn("worker-2", HANDOFF)
    assert await desk.stage() == "working 1"  # the lead has not read it yet
    await desk.turn("lead", "Pity.")
    team = await desk.team()
    assert (team.stage, team.left_in) == ("failed", "working")
    assert team.reason == "a failed; try again with: moot retry, then moot resume"


async def test_who_looks_before_anybody_has_reacted_takes_no_task_for_left_over(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.to_review()
    await desk.reports("lead", "changes", Issue("wrong", task="a"), Issue("slow", task="a"))
    await desk.reports("reviewer-1", "approved")
    await desk.turn_unseen("worker-1", HANDOFF)
    await desk.looks_early()
    assert await desk.stage() == "working 2"
    await desk.work()
    assert (await desk.task("issue 1.2: slow")).status == "planning"


async def test_tasks_that_nobody_there_can_do_end_the_team(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1", "b worker-2")
    await desk.house.write(lambda tx: _send_away(tx, agents.named(tx, desk.house.stream, "worker-2")))
    await desk.turn("worker-1", HANDOFF)
    assert (await desk.team()).reason == "tasks are left that nobody here can do"


def _send_away(tx: Tx, agent: Agent) -> None:
    """Stopped, with nothing left in its hands."""
    endings.interrupt(tx, agent)
    stopping.stop(tx, agent)
    for one in mailbox.unread(tx, agent.id, 100):
        mailbox.ack_one(tx, agent.id, one.seq)
    claims.release_all(tx, agent.id, "stopped")


async def test_the_end_of_a_check_that_the_team_has_waited_for_is_looked_at(store: Store, tmp_path: Path) -> None:
    desk = await launched(store, tmp_path)
    await desk.plans("a worker-1")
    task = await desk.task("a")
    job = await desk.takes(NewJob(f"verify:{task.id}", verifying.VERIFY, desk.run.stream, task.id))
    await desk.turn("worker-1", HANDOFF)
    assert await desk.stage() == "working 1"  # the check may still have something to say
    with Guardian() as guardian:
        worker = VerifyWorker(store, desk.worktrees, guardian)
        assert await desk.house.write(lambda tx: worker.begin(tx, job)) is None
    await desk.work()
    assert await desk.stage() == "reviewing 1"
