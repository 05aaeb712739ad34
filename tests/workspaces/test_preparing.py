"""A folder is made ready for worktrees, once, and what a person has said there counts."""

from pathlib import Path

from moot.workspaces import preparing
from moot.workspaces.preparing import Missing, Prepared
from tests.workspaces.repos import Repo


async def test_a_plain_folder_becomes_a_repository_with_everything_that_is_not_ignored(tmp_path: Path) -> None:
    top = tmp_path / "project"
    top.mkdir()
    for name, text in (("a.txt", "a"), ("secret", "s"), (".gitignore", "secret\n")):
        (top / name).write_text(text)
    assert await preparing.missing(top) == Missing("there is no git repository")
    assert await preparing.prepare(top) == Prepared(True, 2, True)
    repo = Repo(top)
    assert repo.git("ls-tree", "--name-only", "main").split() == [".gitignore", "a.txt"]
    assert repo.git("log", "-1", "--format=%an <%ae> %s") == "moot <moot@localhost> Begin"
    assert await preparing.missing(top) is None
    assert await preparing.prepare(top) == Prepared(False, None, False)


async def test_a_repository_without_a_commit_gets_one_by_whoever_it_belongs_to(tmp_path: Path, own_home: Path) -> None:
    (own_home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.com\n")
    top = tmp_path / "project"
    top.mkdir()
    repo = Repo(top)
    repo.git("init", "--quiet", "-b", "trunk")
    assert await preparing.missing(top) == Missing("the repository has no commit yet")
    assert await preparing.prepare(top) == Prepared(False, 0, False)
    assert repo.git("log", "-1", "--format=%an %s", "trunk") == "Ann Begin"
    assert repo.git("config", "--local", "user.name", check=False) == ""


async def test_a_repository_with_commits_is_left_alone(repo: Repo) -> None:
    tip = repo.tip("main")
    (repo.top / "new.txt").write_text("new")
    repo.git("config", "user.name", "Ann")
    repo.git("config", "user.email", "ann@example.com")
    assert await preparing.prepare(repo.top) == Prepared(False, None, False)
    assert (repo.tip("main"), repo.status()) == (tip, ["?? new.txt"])


async def test_where_no_branch_is_checked_out_only_the_person_can_help(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--detach")
    assert await preparing.missing(repo.top) == Missing("no branch is checked out to begin from", is_for_person=True)


async def test_hooks_of_the_repository_are_not_run(tmp_path: Path) -> None:
    top = tmp_path / "project"
    top.mkdir()
    repo = Repo(top)
    repo.git("init", "--quiet", "-b", "main")
    hook = top / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    await preparing.prepare(top)
    assert not (tmp_path / "ran").exists()
