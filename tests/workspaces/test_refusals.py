"""What stands in the way of workspaces in real repositories: told by its name, and nothing is changed."""

import os
import resource
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.tools import isolation
from moot.workspaces import merging, workspaces
from moot.workspaces.outcomes import Step
from moot.workspaces.repository import Repository
from tests.workspaces import repos
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo


def code(one: object) -> str:
    return str(getattr(one, "trouble")["code"])  # noqa: B009


async def test_without_a_commit_or_a_branch_none_is_made(yard: Yard) -> None:
    yard.repo.git("checkout", "--quiet", "--detach")
    assert code(await yard.make()) == "DETACHED_HEAD"
    assert (await yard.make(base_branch="main")).status == "active"
    yard.repo.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert code(await yard.make("other")) == "UNBORN_BRANCH"
    yard.repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    assert code(await yard.make("other", base_branch="nowhere")) == "BRANCH_NOT_FOUND"
    assert code(await yard.make("main", base_branch="main")) == "BRANCH_TAKEN"
    assert yard.repo.branches() == ["fix", "main"]


@pytest.mark.parametrize("branch", ["Main", "main/x", "MAIN/x", "side"])
async def test_a_branch_that_cannot_be_beside_another_is_refused(yard: Yard, branch: str) -> None:
    yard.repo.git("branch", "side/deep")
    refused = await yard.make(branch)
    assert (refused.status, refused.path, code(refused)) == ("abandoned", None, "BRANCH_TAKEN")
    assert yard.repo.branches() == ["main", "side/deep"]
    assert yard.repo.worktrees() == [yard.repo.top]


async def test_a_branch_that_somebody_has_checked_out_is_refused_and_left_alone(yard: Yard, tmp_path: Path) -> None:
    yard.repo.git("worktree", "add", "--quiet", "-b", "theirs", str(tmp_path / "theirs"))
    assert code(await yard.make("theirs")) == "BRANCH_TAKEN"
    assert tmp_path / "theirs" in yard.repo.worktrees()
    assert (tmp_path / "theirs" / "a.txt").exists()


@pytest.mark.parametrize("branch", ["with'quote", "grüße/日本", "a$(id>x)b`id`", "semi;colon", "-".join("abc")])
async def test_odd_names_are_only_names(yard: Yard, branch: str) -> None:
    one = await yard.make(branch)
    assert one.status == "active", one.trouble
    inside(one).write("new.txt", branch)
    assert (await yard.merge(one.id)).status == "merged"
    await yard.remove(one.id)
    assert yard.repo.read("new.txt") == branch
    assert yard.repo.branches() == ["main"]


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "ignored", "deep/new.txt", "deep"])
async def test_what_somebody_has_not_committed_is_not_overwritten(yard: Yard, name: str) -> None:
    """Changed, untracked or ignored; in the place of a file, or of a folder of it."""
    one = await yard.make()
    tree = inside(one)
    for file in ("a.txt", "new.txt", "ignored", "deep/new.txt"):
        tree.write(file, "theirs\n")
    tree.git("add", "--force", ".")
    tree.commit("theirs")
    yard.repo.write(name, "mine\n")
    before, tip = yard.repo.status(), yard.repo.tip("main")
    refused = await yard.merge(one.id)
    assert (refused.status, code(refused)) == ("active", "LOCAL_CHANGES"), refused.trouble
    assert (yard.repo.status(), yard.repo.tip("main"), yard.repo.read(name)) == (before, tip, "mine\n")
    yard.repo.git("checkout", "--quiet", "a.txt")
    if name != "a.txt":
        (yard.repo.top / name).unlink()
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.read("deep/new.txt") == "theirs\n"


async def test_what_somebody_has_staged_elsewhere_stays_as_it_is(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("theirs", new__txt="new\n")
    yard.repo.write("b.txt", "staged\n")
    yard.repo.git("add", "b.txt")
    yard.repo.write("b.txt", "changed\n")
    yard.repo.write("mine.txt", "mine\n")
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.status() == ["MM b.txt", "?? mine.txt"]
    assert yard.repo.git("show", ":b.txt") == "staged"
    assert yard.repo.read("new.txt") == "new\n"


async def test_a_merge_under_way_is_not_disturbed(yard: Yard) -> None:
    yard.repo.git("switch", "--quiet", "-c", "side")
    yard.repo.commit("side", a__txt="side\n")
    yard.repo.git("switch", "--quiet", "main")
    yard.repo.commit("main", a__txt="main\n")
    one = await yard.make()
    inside(one).commit("theirs", new__txt="new\n")
    yard.repo.git("merge", "side", check=False)
    tip = yard.repo.tip("main")
    refused = await yard.merge(one.id)
    assert (code(refused), yard.repo.tip("main")) == ("BASE_BUSY", tip)
    assert (yard.repo.top / ".git" / "MERGE_HEAD").exists()


async def test_a_rebase_of_the_base_is_not_disturbed(yard: Yard) -> None:
    yard.repo.git("switch", "--quiet", "-c", "side")
    yard.repo.commit("side", a__txt="side\n")
    yard.repo.git("switch", "--quiet", "main")
    yard.repo.commit("main", a__txt="main\n")
    one = await yard.make()
    inside(one).commit("theirs", new__txt="new\n")
    yard.repo.git("rebase", "side", check=False)
    assert code(await yard.merge(one.id)) == "BASE_BUSY"
    yard.repo.git("rebase", "--abort")
    assert (await yard.merge(one.id)).status == "merged"


async def test_a_lock_is_waited_for_and_then_told(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.runner.upkeep._PAUSES", (0.01,))
    one = await yard.make()
    inside(one).commit("theirs", new__txt="new\n")
    lock = yard.repo.top / ".git" / "index.lock"
    lock.touch()
    refused = await yard.merge(one.id)
    assert code(refused) == "REPOSITORY_LOCKED"
    assert lock.exists()
    lock.unlink()
    assert (await yard.merge(one.id)).status == "merged"


async def test_files_that_a_killed_git_has_written_already_are_brought_along(yard: Yard) -> None:
    """The base branch has moved, some files are written, and the index is as before."""
    one = await yard.make()
    tree = inside(one)
    (tree.top / "b.txt").unlink()
    old, new = yard.repo.tip("main"), tree.commit("theirs", a__txt="theirs\n", new__txt="new\n", deep__txt="deep\n")
    await yard.store.write(lambda tx: isolation.ask(tx, one.id, "merge"), caller=SYSTEM)
    await yard.store.write(lambda tx: workspaces.intend(tx, one.id, Step(old, new)), caller=SYSTEM)
    yard.repo.git("update-ref", "refs/heads/main", new, old)
    yard.repo.write("a.txt", "theirs\n")
    yard.repo.write("new.txt", "new\n")
    (yard.repo.top / "b.txt").unlink()
    yard.repo.write("mine.txt", "mine\n")
    await yard.worktrees.carry_out(one.id)
    merged = await yard.get(one.id)
    assert (merged.status, merged.trouble) == ("merged", {})
    assert (yard.repo.status(), yard.repo.read("deep.txt")) == (["?? mine.txt"], "deep\n")


async def test_files_that_somebody_changed_after_a_crash_stay_and_it_is_told(yard: Yard) -> None:
    one = await yard.make()
    old, new = yard.repo.tip("main"), inside(one).commit("theirs", a__txt="theirs\n")
    await yard.store.write(lambda tx: isolation.ask(tx, one.id, "merge"), caller=SYSTEM)
    await yard.store.write(lambda tx: workspaces.intend(tx, one.id, Step(old, new)), caller=SYSTEM)
    yard.repo.git("update-ref", "refs/heads/main", new, old)
    yard.repo.write("a.txt", "mine\n")
    await yard.worktrees.carry_out(one.id)
    merged = await yard.get(one.id)
    assert (merged.status, code(merged), yard.repo.read("a.txt")) == ("merged", "CHECKOUT_BEHIND", "mine\n")


async def test_a_lock_that_comes_after_the_branch_has_moved_is_told_and_the_files_come_along_later(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.runner.upkeep._PAUSES", ())
    one = await yard.make()
    tip, lock = inside(one).commit("theirs", a__txt="theirs\n"), yard.repo.top / ".git" / "index.lock"
    real = merging.bring_along

    async def hindered(repository: Repository, base: str, step: Step) -> None:
        lock.touch()
        await real(repository, base, step)

    with monkeypatch.context() as patch:
        patch.setattr(merging, "bring_along", hindered)
        refused = await yard.merge(one.id)
    assert (refused.status, code(refused), yard.repo.tip("main")) == ("active", "REPOSITORY_LOCKED", tip)
    lock.unlink()
    assert (await yard.merge(one.id)).status == "merged"
    assert (yard.repo.status(), yard.repo.read("a.txt")) == ([], "theirs\n")


async def test_files_that_git_was_told_not_to_look_at_are_kept_too(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.git("update-index", "--assume-unchanged", "a.txt")
    tree.git("update-index", "--skip-worktree", "b.txt")
    tree.write("a.txt", "assumed\n")
    tree.write("b.txt", "skipped\n")
    await yard.remove(one.id)
    assert (yard.repo.show("fix:a.txt"), yard.repo.show("fix:b.txt")) == ("assumed", "skipped")


async def test_a_worktree_that_was_deleted_by_hand_is_no_obstacle(yard: Yard) -> None:
    one = await yard.make()
    inside(one).commit("theirs", new__txt="new\n")
    os.rename(str(one.path), str(yard.repo.top.parent / "away"))
    assert (await yard.merge(one.id)).status == "merged"
    assert (await yard.remove(one.id)).path is None
    assert yard.repo.worktrees() == [yard.repo.top]


async def test_a_worktree_that_was_deleted_by_hand_is_made_again(yard: Yard) -> None:
    one = await yard.make()
    tip = inside(one).commit("theirs", new__txt="new\n")
    os.rename(str(one.path), str(yard.repo.top.parent / "away"))
    again = await yard.ask(one.id, "make")
    assert (again.status, inside(again).tip("HEAD"), inside(again).read("new.txt")) == ("active", tip, "new\n")


async def test_a_branch_that_was_deleted_by_hand_takes_no_work_with_it(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tip = tree.commit("theirs", new__txt="new\n")
    tree.write("more.txt", "more\n")
    yard.repo.git("update-ref", "-d", "refs/heads/fix")
    assert code(await yard.merge(one.id)) == "BRANCH_NOT_FOUND"
    gone = await yard.remove(one.id)
    assert (gone.path, gone.kept_branch) == (None, f"moot/kept/{one.id}")
    assert yard.repo.show(f"{gone.kept_branch}:more.txt") == "more"
    assert yard.repo.tip(f"{gone.kept_branch}^") == tip


@pytest.mark.parametrize("how", ["detached", "other"])
async def test_work_beside_the_branch_is_kept_on_a_branch_of_its_own(yard: Yard, how: str) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.git("checkout", "--quiet", *(["--detach"] if how == "detached" else ["-b", "other"]))
    tip = tree.commit("aside", aside__txt="aside\n")
    tree.write("more.txt", "more\n")
    gone = await yard.remove(one.id)
    assert gone.kept_branch == f"moot/kept/{one.id}"
    assert yard.repo.tip(f"{gone.kept_branch}^") == tip
    assert yard.repo.show(f"{gone.kept_branch}:more.txt") == "more"
    if how == "other":
        assert yard.repo.tip("other") == tip


@pytest.mark.parametrize("how", ["detached", "other", "not committed"])
async def test_a_branch_is_not_called_merged_while_its_work_is_checked_out_beside_it(yard: Yard, how: str) -> None:
    one = await yard.make()
    tree, base = inside(one), yard.repo.tip("main")
    tree.git("checkout", "--quiet", *(["-b", "other"] if how == "other" else ["--detach"]))
    tree.write("aside.txt", "aside\n")
    if how != "not committed":
        tree.commit("aside")
    refused = await yard.merge(one.id)
    assert (refused.status, code(refused), yard.repo.tip("main")) == ("active", "OTHER_BRANCH", base)
    tree.commit("aside too", more__txt="more\n")
    tip = tree.tip("HEAD")
    tree.git("switch", "--quiet", "fix")
    tree.git("merge", "--quiet", tip)
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.show("main:aside.txt") == "aside"


async def test_who_only_looks_at_something_else_may_merge(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.commit("done", new__txt="new\n")
    yard.repo.commit("theirs", theirs__txt="theirs\n")
    tree.git("checkout", "--quiet", "--detach", "main")
    assert (await yard.merge(one.id)).status == "merged"


async def test_work_that_was_kept_beside_the_branch_before_is_told_at_the_end(yard: Yard) -> None:
    one = await yard.make()
    tree = inside(one)
    tree.git("checkout", "--quiet", "--detach")
    tree.commit("aside", aside__txt="aside\n")
    assert code(await yard.merge(one.id)) == "OTHER_BRANCH"
    assert (await yard.remove(one.id)).kept_branch == f"moot/kept/{one.id}"


@pytest.mark.parametrize("how", ["gone", "astray", "a folder"])
async def test_whatever_becomes_of_its_git_file_the_work_is_kept_where_it_belongs(
    yard: Yard, tmp_path: Path, how: str
) -> None:
    """Who works there can write that file: it must not lead us into another repository."""
    other = repos.make(tmp_path / "other")
    other.git("switch", "--quiet", "-c", "fix")
    one = await yard.make()
    tree, tip = inside(one), other.tip("fix")
    (tree.top / ".git").unlink()
    if how == "astray":
        tree.write(".git", f"gitdir: {other.top}/.git\n")
    elif how == "a folder":
        tree.git("init", "--quiet", "-b", "fix")
    tree.write("new.txt", "new\n")
    gone = await yard.remove(one.id)
    assert (other.tip("fix"), other.branches()) == (tip, ["fix", "main"])
    if how == "a folder":
        assert (gone.path, code(gone)) == (one.path, "WORK_INSIDE")
    else:
        assert (gone.path, gone.trouble, yard.repo.show("fix:new.txt")) == (None, {}, "new")


async def test_files_that_git_does_not_know_any_more_are_not_removed(yard: Yard) -> None:
    one = await yard.make()
    inside(one).write("new.txt", "new\n")
    os.rename(yard.repo.top / ".git" / "worktrees" / one.id, yard.repo.top.parent / "note")
    for wish in ("remove", "make"):
        assert code(await yard.ask(one.id, wish)) == "WORK_INSIDE"
    assert inside(one).read("new.txt") == "new\n"


async def test_making_one_again_that_is_there_changes_nothing(yard: Yard) -> None:
    one = await yard.make()
    inside(one).write("new.txt", "new\n")
    assert (await yard.ask(one.id, "make")).trouble == {}
    assert inside(one).status() == ["?? new.txt"]


@pytest.mark.parametrize("how", ["clone", "submodule"])
async def test_a_repository_inside_keeps_the_worktree(yard: Yard, tmp_path: Path, how: str) -> None:
    other = repos.make(tmp_path / "other")
    one = await yard.make()
    tree = inside(one)
    if how == "clone":
        tree.git("clone", "--quiet", str(other.top), "inner")
    else:
        tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.top), "inner")
        tree.commit("with a submodule")
    Repo(tree.top / "inner").commit("only here", x__txt="x\n")
    kept = await yard.remove(one.id)
    assert (kept.status, kept.path, code(kept)) == ("active", one.path, "WORK_INSIDE")
    assert (tree.top / "inner" / "x.txt").exists()


async def test_a_repository_with_submodules_is_merged_without_going_into_them(yard: Yard, tmp_path: Path) -> None:
    other = repos.make(tmp_path / "other")
    yard.repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.top), "inner")
    yard.repo.commit("with a submodule")
    one = await yard.make()
    inside(one).write("new.txt", "new\n")
    assert (await yard.merge(one.id)).status == "merged"
    assert (yard.repo.read("new.txt"), yard.repo.status()) == ("new\n", [])
    assert (await yard.remove(one.id)).path is None


async def test_a_link_in_the_place_of_our_folder_is_refused(yard: Yard, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "worktrees").mkdir(parents=True)
    (yard.repo.top / ".workflow").symlink_to(tmp_path / "elsewhere")
    assert code(await yard.make()) == "FOLDER_UNSAFE"
    assert list((tmp_path / "elsewhere" / "worktrees").iterdir()) == []


async def test_a_link_in_the_place_of_a_worktree_leads_nowhere(yard: Yard, tmp_path: Path) -> None:
    one = await yard.make()
    os.rename(str(one.path), str(tmp_path / "away"))
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    Path(str(one.path)).symlink_to(tmp_path / "precious")
    gone = await yard.remove(one.id)
    assert gone.path is None, gone.trouble
    assert (tmp_path / "precious" / "file").exists()


async def test_folders_that_cannot_be_written_to_are_removed_all_the_same(yard: Yard) -> None:
    one = await yard.make()
    folder = Path(str(one.path)) / "ignored" / "deep"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    folder.chmod(0o500)
    assert (await yard.remove(one.id)).path is None
    assert not Path(str(one.path)).exists()


async def test_a_full_disk_leaves_nothing_half_made(yard: Yard) -> None:
    yard.repo.commit("large", large__txt="x" * 300_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        refused = await yard.make()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.status == "abandoned", refused.trouble
    assert (yard.repo.worktrees(), yard.repo.branches()) == ([yard.repo.top], ["main"])
    assert (await yard.make()).status == "active"


async def test_what_half_a_git_has_left_is_thrown_away(yard: Yard) -> None:
    """As a killed `git worktree add` leaves it: a folder, a note without a target, a lock."""
    one = await yard.want()
    path = yard.worktrees.grounds.path(one.id)
    path.mkdir(parents=True)
    (path / "a.txt").write_text("half", encoding="utf-8")
    note = yard.repo.top / ".git" / "worktrees" / one.id
    note.mkdir(parents=True)
    (note / "locked").write_text("initializing", encoding="utf-8")
    theirs = note.with_name("theirs")
    theirs.mkdir()
    (theirs / "locked").touch()
    await yard.worktrees.carry_out(one.id)
    made = await yard.get(one.id)
    assert made.status == "active", made.trouble
    assert inside(made).read("a.txt") == "one\ntwo\nthree\n"
    assert (theirs / "locked").exists()


async def test_a_setup_prepares_the_worktree_and_its_failure_is_told(yard: Yard) -> None:
    fine = await yard.make("one", setup="cat a.txt > prepared")
    assert (fine.status, fine.trouble, inside(fine).read("prepared")) == ("active", {}, "one\ntwo\nthree\n")
    broken = await yard.make("two", setup="echo so what >&2; exit 3")
    assert (broken.status, code(broken)) == ("active", "WORKSPACE_SETUP_FAILED")
    assert isinstance(broken.error, MootError)
    assert "exit code 3.\nso what" in broken.error.fact


async def test_files_that_a_filter_writes_are_not_brought_along_raw(yard: Yard) -> None:
    yard.repo.git("config", "filter.upper.smudge", "tr a-z A-Z")
    yard.repo.git("config", "filter.upper.clean", "tr A-Z a-z")
    yard.repo.commit("attributes", __gitattributes="*.up filter=upper\n", x__up="x\n")
    one = await yard.make()
    tree = inside(one)
    tree.write("x.up", "raw\n")
    tip = yard.repo.tip("main")
    assert code(await yard.merge(one.id)) == "FILTERS_NEEDED"
    assert yard.repo.tip("main") == tip
    yard.repo.git("switch", "--quiet", "-c", "aside")
    assert (await yard.merge(one.id)).status == "merged"


async def test_histories_that_have_nothing_in_common_are_not_merged(yard: Yard) -> None:
    yard.repo.git("checkout", "--quiet", "--orphan", "alien")
    yard.repo.commit("alien")
    yard.repo.git("checkout", "--quiet", "main")
    one = await yard.make("alien")
    assert code(await yard.merge(one.id)) == "GIT_FAILED"
