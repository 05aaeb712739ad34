"""Who works in a worktree of its own finds there what its tasks build on, though others have done it in theirs."""

from dataclasses import dataclass

import pytest

from moot.board import claims, progress, tasks
from moot.board.claims import Holder, Taken
from moot.board.progress import Result
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE, HostId, JobId
from moot.core.tx import Tx
from moot.registry import agents, attempts, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.attempts import NewAttempt
from moot.tools import isolation
from moot.workspaces import merging
from moot.workspaces.workspaces import Workspace
from tests.board.desk import Desk, desk
from tests.workspaces.conftest import Yard
from tests.workspaces.repos import Repo


@dataclass(frozen=True)
class Crew:
    """Two who share a plan, each in a worktree of its own, and one who has none."""

    yard: Yard
    desk: Desk
    members: dict[str, Agent]

    async def goes_to(self, name: str) -> Repo:
        """Where its next attempt works."""
        return Repo(await self.yard.worktrees.of_agent(self.members[name]))

    async def takes(self, name: str, task: str) -> Repo:
        found, agent = await self.desk.task(task), self.members[name]

        def change(tx: Tx) -> None:
            holder = Holder(agent.id, name, "")
            assert isinstance(claims.claim(tx, found.id, holder, found.stream, None), Taken)

        await self.yard.store.write(change, caller=SYSTEM)
        return await self.goes_to(name)

    async def ends(self, task: str) -> None:
        found = await self.desk.task(task)

        def change(tx: Tx) -> None:
            one = tasks.locked(tx, found.id)
            progress.complete(tx, one, Result(f"{task} is done", by=one.holder))

        await self.yard.store.write(change, caller=SYSTEM)

    async def workspace(self, name: str) -> Workspace:
        found = await self.yard.store.read(lambda tx: isolation.own(tx, self.members[name]))
        assert found is not None
        return found


async def crew(yard: Yard, *lines: str) -> Crew:
    made = await desk(yard.store, *lines)

    def join(tx: Tx) -> dict[str, Agent]:
        instance, settings = instances.ensure(tx, DEFAULT_INSTANCE), {"workspace": "worktree"}
        new = [NewAgent(name, backend="scripted", settings=settings) for name in ("ann", "bob")]
        return {one.name: agents.ensure(tx, instance, one) for one in (*new, NewAgent("cat"))}

    return Crew(yard, made, await yard.store.write(join, caller=SYSTEM))


async def test_what_was_done_elsewhere_is_there_committed_or_not(yard: Yard) -> None:
    met = await crew(yard, "a", "b: a")
    bob = await met.goes_to("bob")
    bob.write("own.txt", "of bob\n")
    ann = await met.takes("ann", "a")
    ann.commit("a is done", a2__txt="of a\n")
    ann.write("left.txt", "not committed\n")
    await met.ends("a")
    assert (await met.takes("bob", "b")).top == bob.top
    assert (bob.read("a2.txt"), bob.read("left.txt"), bob.read("own.txt")) == ("of a\n", "not committed\n", "of bob\n")
    assert (bob.status(), ann.status(), (await met.workspace("bob")).trouble) == ([], [], {})
    before = bob.git("rev-parse", "HEAD")
    await met.goes_to("bob")  # the next attempt at it
    assert bob.git("rev-parse", "HEAD") == before
    assert (await met.workspace("ann")).status == "active"


async def test_what_needs_nothing_or_only_likes_to_know_is_left_alone(yard: Yard) -> None:
    met = await crew(yard, "a", "b: ~a")
    ann = await met.takes("ann", "a")
    ann.commit("a is done", a2__txt="of a\n")
    await met.ends("a")
    bob = await met.takes("bob", "b")
    assert not (bob.top / "a2.txt").exists()


async def test_behind_what_was_done_without_a_worktree_lies_what_that_needs(yard: Yard) -> None:
    met = await crew(yard, "a", "b: a", "c: b")
    (await met.takes("ann", "a")).commit("a is done", a2__txt="of a\n")
    await met.ends("a")
    cat = met.members["cat"]
    await met.desk.do("b", Holder(cat.id, cat.name, "tok_cat"))
    assert (await met.takes("bob", "c")).read("a2.txt") == "of a\n"


async def test_a_conflict_is_told_and_both_stay_as_they_are(yard: Yard) -> None:
    met = await crew(yard, "a", "b: a")
    bob = await met.goes_to("bob")
    bob.commit("bob was quicker", a__txt="of bob\n")
    (await met.takes("ann", "a")).commit("a is done", a__txt="of a\n")
    await met.ends("a")
    await met.takes("bob", "b")
    error = (await met.workspace("bob")).error
    assert error is not None
    assert error.code == "NEEDS_MISSING"
    assert "moot/default/ann (it changes what others have changed, too: a.txt)" in error.fact
    assert (bob.read("a.txt"), bob.status()) == ("of bob\n", [])
    bob.git("merge", "--quiet", "-X", "ours", "moot/default/ann")
    await met.goes_to("bob")
    assert (await met.workspace("bob")).error is None


async def test_what_somebody_is_in_the_middle_of_is_not_taken(yard: Yard) -> None:
    met = await crew(yard, "a", "b: a")
    ann = await met.takes("ann", "a")
    ann.commit("a is done", a2__txt="of a\n")
    await met.ends("a")
    agent = met.members["ann"]
    new = NewAttempt(agent.id, agent.stream, JobId("jb_1"), 1, 1, HostId("ho_1"))
    await yard.store.write(lambda tx: attempts.start(tx, new), caller=SYSTEM)
    ann.write("half.txt", "of the next\n")
    bob = await met.takes("bob", "b")
    assert bob.read("a2.txt") == "of a\n"
    assert not (bob.top / "half.txt").exists()
    assert ann.status() == ["?? half.txt"]


async def test_who_was_killed_while_it_was_brought_over_finds_it_all_the_next_time(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = await crew(yard, "a", "b: a")
    bob = await met.goes_to("bob")
    (await met.takes("ann", "a")).commit("a is done", a2__txt="of a\n")
    await met.ends("a")

    async def die(*_: object) -> None:
        raise KeyError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(merging, "bring_along", die)  # the branch is moved, and its files are behind
        with pytest.raises(KeyError):
            await met.takes("bob", "b")
    await met.goes_to("bob")
    assert (bob.read("a2.txt"), bob.status()) == ("of a\n", [])
