"""The worktree of a task begins with what has come of the tasks that it needs, merged or not."""

import pytest

from moot.core.caller import SYSTEM
from moot.workspaces import workspaces
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.shop import shop


async def test_it_sees_what_it_needs_committed_or_not_and_merges_in_any_order(yard: Yard) -> None:
    made = await shop(yard, "a", "b: a", "c: b", "apart")
    a = await made.begin(yard, "a")
    a.commit("a is done", a2__txt="of a\n")
    a.write("left.txt", "not committed\n")
    await made.complete("a")
    yard.repo.commit("meanwhile", base__txt="newer\n")
    b = await made.begin(yard, "b")
    assert (b.read("a2.txt"), b.read("left.txt"), b.read("base.txt")) == ("of a\n", "not committed\n", "newer\n")
    assert (b.status(), a.status()) == ([], [])
    assert yard.repo.subjects("main..moot/default/a")[0] == "moot: uncommitted work of ann"
    b.write("b2.txt", "of b\n")
    await made.complete("b")
    c = await made.begin(yard, "c")
    assert {"a2.txt", "left.txt", "b2.txt", "base.txt"} <= {path.name for path in c.top.iterdir()}
    apart = await made.begin(yard, "apart")
    assert not (apart.top / "a2.txt").exists()
    # The last first: the others are in it, and come to nothing more.
    for name in ("c", "a", "b"):
        merged = await yard.merge((await made.workspace(name)).id)
        assert (merged.status, merged.trouble) == ("merged", {}), name
    assert yard.repo.read("b2.txt") == "of b\n"
    for name in ("a", "b", "c", "apart"):
        await yard.remove((await made.workspace(name)).id)
    assert (yard.repo.branches(), yard.repo.worktrees()) == (["main"], [yard.repo.top])


async def test_a_lock_that_a_dead_git_has_left_where_it_builds_on_leaves_nothing_out(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.runner.upkeep._PAUSES", ())
    made = await shop(yard, "a", "b: a")
    a = await made.begin(yard, "a")
    a.write("left.txt", "not committed\n")
    await made.complete("a")
    (yard.repo.top / ".git" / "worktrees" / a.top.name / "index.lock").touch()
    one = await made.begun(yard, "b")
    assert (one.trouble, inside(one).read("left.txt")) == ({}, "not committed\n")


async def test_needs_in_conflict_are_told_and_nothing_is_lost(yard: Yard) -> None:
    made = await shop(yard, "a", "b", "c", "d: a b c")
    for name, content in (("a", "of a\n"), ("b", "of b\n"), ("c", "")):
        tree = await made.begin(yard, name)
        tree.commit(f"{name} is done", **({"a__txt": content} if content else {"c__txt": "of c\n"}))
        await made.complete(name)
    one = await made.begun(yard, "d")
    assert one.error is not None
    assert (one.status, one.error.code) == ("active", "NEEDS_MISSING")
    assert "moot/default/b (it changes what others have changed, too: a.txt)" in one.error.fact
    assert [(each.file, each.kind) for each in one.conflicts] == [("a.txt", "contents")]
    tree = inside(one)
    assert (tree.read("a.txt"), tree.read("c.txt"), tree.status()) == ("of a\n", "of c\n", [])
    assert yard.repo.show("moot/default/b:a.txt") == "of b"
    # Nobody has done anything there yet: the branch goes, and what it was made of stays.
    await yard.remove(one.id)
    assert yard.repo.branches() == ["main", "moot/default/a", "moot/default/b", "moot/default/c"]


async def test_what_it_needs_comes_before_what_has_changed_at_the_base(yard: Yard) -> None:
    made = await shop(yard, "a", "b: a")
    (await made.begin(yard, "a")).commit("a is done", a__txt="of a\n")
    await made.complete("a")
    yard.repo.commit("meanwhile", a__txt="of main\n")
    one = await made.begun(yard, "b")
    assert inside(one).read("a.txt") == "of a\n"
    assert one.error is not None
    assert "main (it changes what others have changed, too: a.txt)" in one.error.fact


async def test_behind_a_task_that_was_done_in_no_worktree_lies_what_that_needs(yard: Yard) -> None:
    made = await shop(yard, "a", "b: a", "c: b", "d: c ~e", "e")
    (await made.begin(yard, "a")).commit("a is done", a2__txt="of a\n")
    await made.complete("a")
    await made.do("b")
    await made.skip("c")
    (await made.begin(yard, "e")).commit("e is done", e2__txt="of e\n")
    await made.complete("e")
    d = await made.begin(yard, "d")
    assert d.read("a2.txt") == "of a\n"
    assert not (d.top / "e2.txt").exists()  # good to know, not needed


async def test_what_cannot_be_had_of_what_it_needs_is_told(yard: Yard) -> None:
    made = await shop(yard, "a", "b", "c", "d: a b c")
    a = await made.begin(yard, "a")
    a.commit("a is done", a2__txt="of a\n")
    a.git("switch", "--quiet", "-c", "another")
    a.write("strayed.txt", "on another branch\n")
    b = await made.begin(yard, "b")
    b.git("checkout", "--quiet", "--detach")
    yard.repo.git("branch", "--quiet", "-D", "moot/default/b")
    c = await made.begin(yard, "c")
    (yard.repo.top / ".git" / "worktrees" / c.top.name / "MERGE_HEAD").write_text("x")
    for name in ("a", "b", "c"):
        await made.complete(name)
    one = await made.begun(yard, "d")
    assert inside(one).read("a2.txt") == "of a\n"
    assert one.error is not None
    kept = f"moot/kept/{a.top.name}"
    assert f"{kept} (it was left in the worktree of moot/default/a" in one.error.fact
    assert "moot/default/b (there is no such branch any more)" in one.error.fact
    assert "moot/default/c (what is not committed there is left out: Something is under way" in one.error.fact
    assert yard.repo.show(f"{kept}:strayed.txt") == "on another branch"


async def test_a_branch_that_was_there_before_is_used_as_it_is_and_what_it_is_without_is_told(yard: Yard) -> None:
    made = await shop(yard, "a", "b: a")
    (await made.begin(yard, "a")).commit("a is done", a2__txt="of a\n")
    await made.complete("a")
    yard.repo.git("branch", "moot/default/b")
    one = await made.begun(yard, "b")
    assert one.error is not None
    assert "moot/default/a (the branch was there before, and is used as it is)" in one.error.fact
    assert (one.is_branch_ours, yard.repo.tip("moot/default/b")) == (False, yard.repo.tip("main"))


async def test_what_was_taken_away_and_is_worked_on_again_begins_anew_with_what_it_needs(yard: Yard) -> None:
    made = await shop(yard, "a", "b: a")
    (await made.begin(yard, "a")).commit("a is done", a2__txt="of a\n")
    await made.complete("a")
    one = await made.begun(yard, "b")
    await yard.remove(one.id)
    assert yard.repo.tip("moot/default/b") == ""
    await yard.store.write(lambda tx: workspaces.reopen(tx, one.id), caller=SYSTEM)
    await yard.worktrees.carry_out(one.id)
    again = await yard.get(one.id)
    assert inside(again).read("a2.txt") == "of a\n"
    assert (again.is_branch_ours, again.trouble) == (True, {})
