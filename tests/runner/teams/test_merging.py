"""One worker merges; that it is merged, git says."""

from collections.abc import Callable
from pathlib import Path

from moot.core.records import replace
from moot.core.tx import Tx
from moot.jobs.jobs import NewJob
from moot.registry import agents
from moot.runner.worktree_worker import WorktreeWorker
from moot.store.store import Store
from moot.tools import asking, isolation
from moot.tools.asking import Question
from moot.workspaces import workspaces
from moot.workspaces.errors import MergeConflict, NoRemote
from moot.workspaces.outcomes import Conflict
from moot.workspaces.workspaces import NewWorkspace, Plan, Workspace
from tests.runner.teams.desk import HANDOFF, Desk, launched, workflow


async def merging(store: Store, folder: Path, *, pushes: bool = False, more: str = "") -> Desk:
    """Everything is approved, and each worker has a worktree, as if git had made it; worker-2 has made `more`, too."""
    desk = await launched(store, folder, workflow(pushes=pushes))
    await desk.plans("a worker-1", "b worker-2")

    def make(tx: Tx) -> None:
        workers = [agents.named(tx, desk.house.stream, name) for name in ("worker-1", "worker-2")]
        made = [isolation.of_agent(tx, one) for one in workers]
        if more:
            guest = workers[1]
            new = NewWorkspace(guest.stream, guest.instance, more, desk.run.id, created_by=guest.id)
            made.append(isolation.create(tx, replace(new, created_name=guest.name)))
        for name, one in zip(("worker-1", "worker-2", "more"), made, strict=False):
            workspaces.settle(tx, one.id, desk.worktrees.place)
            workspaces.plan(
                tx, one.id, Plan(str(folder / "no"), str(folder / name), "main", "abc", is_branch_ours=True)
            )
            workspaces.made(tx, one.id)

    await desk.house.write(make)
    for name in ("worker-1", "worker-2"):
        await desk.turn(name, HANDOFF)
    for name in ("lead", "reviewer-1"):
        await desk.reports(name, "approved")
    assert await desk.stage() == "merging 1"
    return desk


async def space(desk: Desk, name: str) -> Workspace:
    agent = await desk.agent(name)
    found = await desk.house.read(lambda tx: isolation.own(tx, agent))
    assert found is not None
    return found


async def ended(desk: Desk, change: Callable[[Tx], None]) -> None:
    await desk.house.write(change)
    await desk.work()


async def test_the_first_worker_is_given_the_merge_of_the_others(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path)
    (told,) = await desk.unread("worker-1")
    other = await space(desk, "worker-2")
    assert f"workspace_merge {other.id}, or git merge {other.branch}" in told
    assert other.merge_into == (await space(desk, "worker-1")).branch
    assert await desk.unread("worker-2") == []


async def test_the_team_is_done_when_git_says_that_it_is_merged(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path)
    await desk.turn("worker-1", HANDOFF)
    other = await space(desk, "worker-2")
    assert (other.wanted, await desk.stage()) == ("merge", "merging 1")
    await ended(desk, lambda tx: workspaces.merged(tx, other.id, "def"))
    assert await desk.stage() == "done 1"
    assert (await desk.said())[-1].body.startswith("merged: everything is on moot/")


async def test_a_merge_that_its_worker_only_claims_is_given_to_it_again_and_then_fails(
    store: Store, tmp_path: Path
) -> None:
    desk = await merging(store, tmp_path)
    other = (await space(desk, "worker-2")).id
    error = MergeConflict("Both have changed a.py.", "Solve it.")
    for number in (1, 2, 3):
        await desk.turn("worker-1", HANDOFF)
        await ended(desk, lambda tx: workspaces.refused(tx, other, error, (Conflict("a.py", "content"),)))
        if number < 3:
            (told,) = await desk.unread("worker-1")
            assert "The last try did not succeed: Both have changed a.py. Solve it." in told
    assert (await desk.team()).reason == "worker-1 could not merge: Both have changed a.py. Solve it."


async def test_what_the_worker_has_merged_itself_is_not_merged_again(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path)
    other = (await space(desk, "worker-2")).id

    def by_tool(tx: Tx, _: object) -> None:
        isolation.ask(tx, other, "merge")
        workspaces.merged(tx, other, "def")

    await desk.turn("worker-1", HANDOFF, by_tool)
    assert await desk.stage() == "done 1"
    assert (await space(desk, "worker-2")).merge_commit == "def"


async def test_a_team_that_pushes_is_done_when_that_is_done(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path, pushes=True)
    other = (await space(desk, "worker-2")).id
    await desk.turn("worker-1", HANDOFF)
    await ended(desk, lambda tx: workspaces.merged(tx, other, "def"))
    own = await space(desk, "worker-1")
    assert (own.wanted, await desk.stage()) == ("push", "merging 1")
    await ended(desk, lambda tx: workspaces.pushed(tx, own.id, "origin"))
    assert await desk.stage() == "done 1"


async def test_a_push_that_is_refused_is_told(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path, pushes=True)
    other = (await space(desk, "worker-2")).id
    await desk.turn("worker-1", HANDOFF)
    await ended(desk, lambda tx: workspaces.merged(tx, other, "def"))
    own = (await space(desk, "worker-1")).id
    await ended(desk, lambda tx: workspaces.refused(tx, own, NoRemote("There is no remote.", "Add one.")))
    assert (await desk.team()).reason == "it could not be pushed: There is no remote. Add one."


async def test_the_end_of_a_merge_is_looked_at_though_its_news_came_earlier(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path)
    await desk.turn("worker-1", HANDOFF)
    other = await space(desk, "worker-2")
    job = await desk.takes(NewJob(isolation.key(other.id), isolation.WORKTREE, desk.run.stream, other.id))
    await ended(desk, lambda tx: workspaces.merged(tx, other.id, "def"))
    assert await desk.stage() == "merging 1"  # git may still be at it
    worker = WorktreeWorker(desk.worktrees)
    assert await desk.house.write(lambda tx: worker.begin(tx, job)) is None
    await desk.work()
    assert await desk.stage() == "done 1"


async def test_what_a_worker_from_outside_has_made_for_its_tasks_is_merged_too(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path, more="feature/b")
    (told,) = await desk.unread("worker-1")
    assert "git merge moot/default/worker-2\n" in told
    assert "git merge feature/b\n" in told
    await desk.turn("worker-1", HANDOFF)
    other = (await space(desk, "worker-2")).id
    await ended(desk, lambda tx: workspaces.merged(tx, other, "def"))
    assert await desk.stage() == "merging 1"
    made = await desk.house.read(lambda tx: workspaces.on_branch(tx, "feature/b"))
    assert made is not None
    assert (made.wanted, made.merge_into) == ("merge", (await space(desk, "worker-1")).branch)
    await ended(desk, lambda tx: workspaces.merged(tx, made.id, "def"))
    assert await desk.stage() == "done 1"


async def test_what_members_were_asked_holds_up_nobody_once_the_team_is_done(store: Store, tmp_path: Path) -> None:
    desk = await merging(store, tmp_path)

    def ask(tx: Tx) -> None:
        for to, kind in (("worker-2", "shutdown"), ("lead", "plan_approval"), ("human", "question")):
            question = Question(to, kind, "that was all")  # pyright: ignore[reportArgumentType]
            asking.ask(tx, desk.house.instance, None, question)

    await desk.house.write(ask)
    await desk.turn("worker-1", HANDOFF)
    other = (await space(desk, "worker-2")).id
    await ended(desk, lambda tx: workspaces.merged(tx, other, "def"))
    assert await desk.stage() == "done 1"
    assert [one.addressee for one in await desk.asked()] == ["human"]
    assert [await desk.unread(name) for name in ("worker-2", "lead")] == [[], []]
