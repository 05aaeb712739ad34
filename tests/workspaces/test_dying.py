"""Killed at every call of git while a worktree is made, merged and removed: it is finished by whoever comes next."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import WorkspaceId
from moot.store import sqlite
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import workspaces
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo
from tests.workspaces.shop import shop

MOST = 80  # calls of git that anything takes


@pytest.fixture
async def lasting(anyio_backend: object, repo: Repo) -> AsyncIterator[Yard]:
    """A project with its store where other processes look for it."""
    (repo.top / ".workflow").mkdir(mode=0o700)
    store: Store = sqlite.open_file(repo.top / ".workflow" / "moot.db", create=True)
    yield Yard(store, repo)
    await store.close()


HOWS = ("before", "during", "with git")


A_FEW = [range(2 + 6 * place, MOST, 18) for place, _ in enumerate(HOWS)]  # in each way at others
PLANS = [
    *(pytest.param(how, calls, id=how) for how, calls in zip(HOWS, A_FEW, strict=True)),
    *(pytest.param(how, range(1, MOST), id=f"{how}, always", marks=pytest.mark.chaos) for how in HOWS),
]
killed = pytest.mark.parametrize(("how", "calls"), PLANS)
killed_twice = pytest.mark.parametrize(
    ("how", "calls"), [pytest.param("during", range(12, MOST, 14), id="during"), *PLANS[len(HOWS) :]]
)


def die(project: Path, id: WorkspaceId, call: int, how: str) -> bool:
    """Whether it was killed at that call; else it was done before."""
    done = subprocess.run(
        (sys.executable, "-m", "tests.workspaces.dying", str(project), id, str(call), how),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


async def finished(yard: Yard, id: WorkspaceId, wish: isolation.Wanted) -> None:
    """By another process, as it would be; a person removes locks of a git that is dead, and asks again."""
    await yard.worktrees.carry_out(id)
    one = await yard.get(id)
    for lock in (yard.repo.top / ".git").rglob("*.lock"):
        lock.unlink()
    if one.trouble.get("code") == "REPOSITORY_LOCKED":
        await yard.ask(id, wish)


@pytest.mark.slow
@killed
async def test_one_that_is_being_made_is_made_whole(lasting: Yard, how: str, calls: range) -> None:
    yard = lasting
    for call in calls:
        one = await yard.want(f"fix-{call}")
        was_killed = die(yard.repo.top, one.id, call, how)
        await finished(yard, one.id, "make")
        made = await yard.get(one.id)
        assert (made.status, made.trouble, made.is_branch_ours) == ("active", {}, True), (call, made)
        tree = inside(made)
        assert (tree.status(), tree.git("symbolic-ref", "--short", "HEAD")) == ([], f"fix-{call}"), call
        await yard.remove(one.id)
        assert (yard.repo.worktrees(), yard.repo.branches()) == ([yard.repo.top], ["main"]), call
        assert list((yard.repo.top / ".git" / "worktrees").glob("*")) == [], call
        if not was_killed:
            return
    pytest.fail("there are more calls of git than expected")


@pytest.mark.slow
@killed_twice
async def test_one_that_builds_on_others_is_made_whole_with_their_work(lasting: Yard, how: str, calls: range) -> None:
    yard = lasting
    for call in calls:
        a, b, c = (f"{name}{call}" for name in "abc")
        made = await shop(yard, a, b, f"{c}: {a} {b}")
        (await made.begin(yard, a)).write(f"{a}.txt", "not committed\n")
        (await made.begin(yard, b)).commit(f"{b} is done", **{f"{b}__txt": "of b\n"})
        await made.complete(a)
        await made.complete(b)
        one = await made.wanted(c)
        was_killed = die(yard.repo.top, one.id, call, how)
        await finished(yard, one.id, "make")
        got = await yard.get(one.id)
        assert (got.status, got.trouble, got.is_branch_ours) == ("active", {}, True), (call, got)
        tree = inside(got)
        assert (tree.read(f"{a}.txt"), tree.read(f"{b}.txt"), tree.status()) == ("not committed\n", "of b\n", []), call
        assert yard.repo.subjects(f"main..moot/default/{a}") == ["moot: uncommitted work of ann"], call
        await yard.remove(one.id)
        for name in (a, b):
            await yard.remove((await made.workspace(name)).id)
        assert {one for one in yard.repo.branches() if one.endswith(str(call))} == {
            f"moot/default/{name}" for name in (a, b)
        }, call
        assert yard.repo.worktrees() == [yard.repo.top], call
        if not was_killed:
            return
    pytest.fail("there are more calls of git than expected")


@pytest.mark.slow
@killed_twice
async def test_one_that_goes_on_after_a_merge_has_the_files_of_the_base(lasting: Yard, how: str, calls: range) -> None:
    yard = lasting
    one = await yard.make("fix")
    for call in calls:
        await yard.merge(one.id)
        yard.repo.commit(f"meanwhile {call}", **{f"base-{call}__txt": "newer\n", "b__txt": f"{call}\n"})
        await yard.store.write(lambda tx: workspaces.reopen(tx, one.id), caller=SYSTEM)
        was_killed = die(yard.repo.top, one.id, call, how)
        await finished(yard, one.id, "make")
        again = await yard.get(one.id)
        assert (again.status, again.trouble, again.merge_from) == ("active", {}, None), (call, again)
        tree = inside(again)
        assert (tree.status(), tree.read("b.txt")) == ([], f"{call}\n"), call
        if not was_killed:
            return
    pytest.fail("there are more calls of git than expected")


@pytest.mark.slow
@killed
async def test_one_that_is_being_merged_is_merged_once(lasting: Yard, how: str, calls: range) -> None:
    yard = lasting
    for call in calls:
        one = await yard.make(f"fix-{call}")
        tree = inside(one)
        tree.commit(f"theirs {call}", **{f"theirs-{call}__txt": "theirs\n"})
        tree.write(f"more-{call}.txt", "more\n")
        yard.repo.commit(f"ours {call}", **{f"ours-{call}__txt": "ours\n"})
        await yard.store.write(lambda tx, id=one.id: isolation.ask(tx, id, "merge"), caller=SYSTEM)
        was_killed = die(yard.repo.top, one.id, call, how)
        await finished(yard, one.id, "merge")
        merged = await yard.get(one.id)
        assert (merged.status, merged.trouble) == ("merged", {}), (call, merged)
        assert merged.merge_commit == yard.repo.tip("main"), call
        assert yard.repo.status() == [], call
        names = {f"{who}-{call}.txt" for who in ("theirs", "more", "ours")}
        assert names <= {path.name for path in yard.repo.top.iterdir()}, call
        subjects = yard.repo.subjects("main")
        assert subjects.count(f"Merge fix-{call} into main") == subjects.count(f"theirs {call}") == 1, (call, subjects)
        if not was_killed:
            return
    pytest.fail("there are more calls of git than expected")


@pytest.mark.slow
@killed
async def test_one_that_is_being_removed_loses_nothing(lasting: Yard, how: str, calls: range) -> None:
    yard = lasting
    for call in calls:
        one = await yard.make(f"fix-{call}")
        tree = inside(one)
        tree.write("b.txt", "staged\n")
        tree.git("add", "b.txt")
        tree.write("b.txt", "changed\n")
        tree.write("new.txt", "new\n")
        await yard.store.write(lambda tx, id=one.id: isolation.ask(tx, id, "remove"), caller=SYSTEM)
        was_killed = die(yard.repo.top, one.id, call, how)
        await finished(yard, one.id, "remove")
        gone = await yard.get(one.id)
        assert (gone.status, gone.path, gone.trouble) == ("abandoned", None, {}), (call, gone)
        assert yard.repo.worktrees() == [yard.repo.top], call
        branch = f"fix-{call}"
        wanted = ["moot: uncommitted work of coder", "moot: staged work of coder"]
        assert yard.repo.subjects(f"main..{branch}") == wanted, call
        assert (yard.repo.show(f"{branch}:b.txt"), yard.repo.show(f"{branch}:new.txt")) == ("changed", "new"), call
        if not was_killed:
            return
    pytest.fail("there are more calls of git than expected")
