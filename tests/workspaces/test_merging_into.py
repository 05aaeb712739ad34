"""A workspace that leads to another branch is merged there, with what is not committed on either side."""

from moot.core.caller import SYSTEM
from moot.workspaces import workspaces
from moot.workspaces.errors import MergeConflict
from moot.workspaces.workspaces import Workspace
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo


async def two(yard: Yard) -> tuple[Workspace, Workspace]:
    """One that others come to, and one that comes to it."""
    target, other = await yard.make("one"), await yard.make("two")
    await yard.store.write(lambda tx: workspaces.lead_to(tx, other.id, "one"), caller=SYSTEM)
    return target, other


async def test_it_comes_to_the_branch_and_its_worktree_and_the_base_stays(yard: Yard, repo: Repo) -> None:
    target, other = await two(yard)
    inside(target).write("mine.txt", "mine\n")
    inside(other).write("theirs.txt", "theirs\n")
    before = repo.tip("main")
    merged = await yard.merge(other.id)
    assert (merged.status, merged.error) == ("merged", None)
    assert (inside(target).read("mine.txt"), inside(target).read("theirs.txt")) == ("mine\n", "theirs\n")
    assert inside(target).status() == []
    assert repo.show("one:theirs.txt") == "theirs"
    assert (repo.tip("main"), repo.status()) == (before, [])


async def test_what_is_in_conflict_changes_nothing_and_what_was_solved_is_merged(yard: Yard, repo: Repo) -> None:
    target, other = await two(yard)
    inside(target).write("a.txt", "mine\n")
    inside(other).write("a.txt", "theirs\n")
    refused = await yard.merge(other.id)
    assert isinstance(refused.error, MergeConflict)
    assert inside(target).read("a.txt") == "mine\n"
    tree = inside(target)
    tree.git("merge", "--quiet", "two", check=False)
    tree.commit("solve it", a__txt="both\n")
    tip = repo.tip("one")
    merged = await yard.merge(other.id)
    assert (merged.status, merged.merge_commit, repo.tip("one")) == ("merged", tip, tip)


async def test_merged_twice_it_is_merged_once(yard: Yard, repo: Repo) -> None:
    _, other = await two(yard)
    inside(other).write("theirs.txt", "theirs\n")
    await yard.merge(other.id)
    tip = repo.tip("one")
    await yard.worktrees.carry_out(other.id)
    assert repo.tip("one") == tip


async def test_who_goes_on_after_a_merge_leads_to_its_base_again(yard: Yard) -> None:
    _, other = await two(yard)
    await yard.merge(other.id)
    opened = await yard.store.write(lambda tx: workspaces.reopen(tx, other.id), caller=SYSTEM)
    assert (opened.merge_into, opened.merge_commit) == ("", None)


async def test_a_branch_that_was_merged_elsewhere_goes_with_its_worktree(yard: Yard, repo: Repo) -> None:
    _, other = await two(yard)
    inside(other).write("theirs.txt", "theirs\n")
    await yard.merge(other.id)
    await yard.remove(other.id)
    assert repo.branches() == ["main", "one"]
    assert repo.show("one:theirs.txt") == "theirs"


async def test_a_branch_goes_too_where_the_one_that_it_was_merged_into_has_gone_on_to_the_base(
    yard: Yard, repo: Repo
) -> None:
    target, other = await two(yard)
    inside(other).write("theirs.txt", "theirs\n")
    for one in (other, target):
        await yard.merge(one.id)
    for one in (target, other):
        await yard.remove(one.id)
    assert repo.branches() == ["main"]
    assert repo.show("main:theirs.txt") == "theirs"


async def test_a_branch_stays_where_the_one_that_it_was_merged_into_is_gone_and_the_base_has_it_not(
    yard: Yard, repo: Repo
) -> None:
    target, other = await two(yard)
    inside(other).write("theirs.txt", "theirs\n")
    await yard.merge(other.id)
    await yard.remove(target.id)
    repo.git("branch", "-D", "one")
    await yard.remove(other.id)
    assert repo.branches() == ["main", "two"]
