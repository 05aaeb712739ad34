"""Workspaces made, merged and removed in a real repository."""

from pathlib import Path

from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.outcomes import Step
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo


async def test_a_workspace_is_a_branch_with_a_worktree_of_its_own(yard: Yard) -> None:
    one = await yard.make("fix/login")
    assert (one.status, one.wanted, one.base_branch) == ("active", "", "main")
    assert one.base_commit == yard.repo.tip("main")
    assert one.path == str(yard.repo.top / ".workflow" / "worktrees" / one.id)
    assert inside(one).git("symbolic-ref", "--short", "HEAD") == "fix/login"
    assert inside(one).read("a.txt") == "one\ntwo\nthree\n"
    assert yard.repo.status() == []


async def test_what_was_done_there_is_merged_where_main_is_checked_out(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("more", a__txt="one\n2\nthree\n", new__txt="new\n")
    merged = await yard.merge(one.id)
    assert (merged.status, merged.trouble) == ("merged", {})
    assert merged.merge_commit == yard.repo.tip("main") == inside(one).tip("HEAD")  # forward, without another commit
    assert (yard.repo.read("a.txt"), yard.repo.read("new.txt")) == ("one\n2\nthree\n", "new\n")
    assert yard.repo.status() == []


async def test_what_both_sides_did_is_merged_by_a_commit_that_names_the_workspace(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("theirs", b__txt="theirs\n")
    yard.repo.commit("ours", a__txt="ours\n")
    merged = await yard.merge(one.id)
    assert merged.merge_commit == yard.repo.tip("main")
    assert yard.repo.git("log", "-1", "--format=%P").split() == [yard.repo.tip("main^1"), inside(one).tip("HEAD")]
    assert f"Workspace: {one.id} of coder" in yard.repo.git("log", "-1", "--format=%B")
    assert (yard.repo.read("a.txt"), yard.repo.read("b.txt")) == ("ours\n", "theirs\n")
    assert yard.repo.status() == []


async def test_what_is_not_committed_is_merged_too_and_what_is_ignored_is_not(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.write("b.txt", "changed\n")
    tree.write("deep/new.txt", "new\n")
    tree.write("ignored", "secret\n")
    (tree.top / "a.txt").unlink()
    await yard.merge(one.id)
    assert yard.repo.subjects("main") == ["moot: uncommitted work of coder", "begin"]
    assert yard.repo.git("log", "-1", "--format=%an <%ae>") == "moot <moot@localhost>"
    assert (yard.repo.read("b.txt"), yard.repo.read("deep/new.txt")) == ("changed\n", "new\n")
    assert not (yard.repo.top / "a.txt").exists()
    assert not (yard.repo.top / "ignored").exists()
    assert tree.status() == []
    assert yard.repo.status() == []


async def test_a_conflict_is_told_and_nothing_is_changed(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("theirs", a__txt="theirs\n", b__txt="theirs\n")
    yard.repo.write("a.txt", "ours\n")
    yard.repo.git("rm", "--quiet", "b.txt")
    yard.repo.commit("ours")
    before = (yard.repo.tip("main"), yard.repo.tip("fix"))
    refused = await yard.merge(one.id)
    assert (refused.status, refused.wanted, refused.merge_commit) == ("active", "", None)
    assert refused.trouble["code"] == "MERGE_CONFLICT"
    assert [(each.file, each.kind) for each in refused.conflicts] == [("a.txt", "contents"), ("b.txt", "modify/delete")]
    assert (yard.repo.tip("main"), yard.repo.tip("fix")) == before
    assert yard.repo.status() == []
    # Solved in the worktree, it goes in.
    tree = inside(one)
    tree.git("merge", "main", check=False)
    tree.commit("solved", a__txt="both\n")
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.read("a.txt") == "both\n"


async def test_the_same_base_elsewhere_is_brought_along_too(yard: Yard, tmp_path: Path) -> None:
    yard.repo.git("switch", "--quiet", "-c", "aside")
    yard.repo.git("worktree", "add", "--quiet", str(tmp_path / "other"), "main")
    one = await yard.make(base_branch="main")
    inside(one).commit("more", new__txt="new\n")
    await yard.merge(one.id)
    other = Repo(tmp_path / "other")
    assert (other.read("new.txt"), other.status()) == ("new\n", [])
    assert not (yard.repo.top / "new.txt").exists()


async def test_a_base_that_nobody_has_checked_out_is_merged_without_files(yard: Yard) -> None:
    one = await yard.make()
    yard.repo.git("switch", "--quiet", "-c", "aside")
    inside(one).commit("more", new__txt="new\n")
    assert (await yard.merge(one.id)).merge_commit == yard.repo.tip("main")
    assert not (yard.repo.top / "new.txt").exists()
    assert yard.repo.status() == []


async def test_removing_a_merged_one_leaves_nothing_behind(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("more", new__txt="new\n")
    await yard.merge(one.id)
    gone = await yard.remove(one.id)
    assert (gone.status, gone.path, gone.trouble) == ("merged", None, {})
    assert yard.repo.branches() == ["main"]
    assert yard.repo.worktrees() == [yard.repo.top]
    left = [path.name for path in (yard.repo.top / ".workflow" / "worktrees").iterdir()]
    assert left == [f".{one.id}.lock"]


async def test_removing_one_that_is_not_merged_keeps_all_its_work_on_its_branch(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.commit("mine", new__txt="new\n")
    tree.write("b.txt", "staged\n")
    tree.git("add", "b.txt")
    tree.write("b.txt", "changed again\n")
    tree.write("untracked.txt", "u\n")
    gone = await yard.remove(one.id)
    assert (gone.status, gone.path, gone.kept_branch) == ("abandoned", None, None)
    wanted = ["moot: uncommitted work of coder", "moot: staged work of coder", "mine", "begin"]
    assert yard.repo.subjects("fix") == wanted
    assert yard.repo.show("fix:b.txt") == "changed again"
    assert yard.repo.show("fix^:b.txt") == "staged"
    assert yard.repo.show("fix:untracked.txt") == "u"
    assert yard.repo.worktrees() == [yard.repo.top]


async def test_one_in_which_nothing_was_done_takes_its_branch_away(yard: Yard) -> None:
    one = await yard.make()
    await yard.remove(one.id)
    assert yard.repo.branches() == ["main"]


async def test_a_branch_that_was_there_is_used_and_never_taken_away(yard: Yard) -> None:
    yard.repo.git("branch", "mine")
    one = await yard.make("mine")
    assert (one.status, one.is_branch_ours) == ("active", False)
    await yard.remove(one.id)
    assert yard.repo.branches() == ["main", "mine"]


async def test_a_checkout_that_was_killed_is_made_anew_and_its_missing_files_are_no_work(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    (yard.repo.top / ".git" / "worktrees" / one.id / "index").unlink()  # git writes it after the last file
    (tree.top / "b.txt").unlink()
    made = await yard.ask(one.id, "make")
    assert (made.status, tree.read("b.txt"), tree.status()) == ("active", "b\n", [])


async def test_files_of_a_merge_that_was_killed_come_along_after_others_have_merged(yard: Yard) -> None:
    one, other = await yard.make("one"), await yard.make("other")
    inside(one).commit("mine", a__txt="changed\n", one__txt="one\n")
    inside(other).commit("theirs", other__txt="other\n")
    old, new = yard.repo.tip("main"), yard.repo.tip("one")

    def killed(tx: Tx) -> None:
        isolation.ask(tx, one.id, "merge")
        workspaces.intend(tx, one.id, Step(old, new))

    await yard.store.write(killed, caller=SYSTEM)
    yard.repo.git("update-ref", "refs/heads/main", new, old)
    assert (await yard.merge(other.id)).status == "merged"
    yard.repo.write("b.txt", "of the person\n")
    await yard.worktrees.carry_out(one.id)
    merged = await yard.get(one.id)
    assert (merged.status, merged.trouble) == ("merged", {})
    assert yard.repo.status() == ["M b.txt"]
    assert (yard.repo.read("a.txt"), yard.repo.read("one.txt"), yard.repo.read("other.txt")) == (
        "changed\n",
        "one\n",
        "other\n",
    )
