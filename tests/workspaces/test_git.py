"""git as moot runs it: nothing of a repository is executed, and what stands in the way has a name."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from moot.process.errors import ProgramNotFound
from moot.workspaces import git, repository
from moot.workspaces.errors import (
    BareRepository,
    GitFailed,
    GitTooOld,
    NotARepository,
    RepositoryElsewhere,
    RepositoryLocked,
    UnbornBranch,
)
from tests.workspaces import repos
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo

MARKER = "worktree-test"


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """Leaves a file beside it whenever it is run, whatever it is run with, and then does as if it were fine."""
    program = tmp_path / "canary"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/sung\ncat 2>/dev/null\nexit 0\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def sung(canary: Path) -> list[str]:
    song = canary.with_name("sung")
    return song.read_text(encoding="utf-8").splitlines() if song.exists() else []


def hooks(repo: Repo, canary: Path) -> None:
    names = ("post-checkout", "pre-commit", "post-commit", "commit-msg", "pre-merge-commit", "post-merge")
    for name in (*names, "reference-transaction", "post-index-change", "post-rewrite", "prepare-commit-msg"):
        (repo.top / ".git" / "hooks" / name).symlink_to(canary)


def hooks_path(repo: Repo, canary: Path) -> None:
    hooks(repo, canary)
    repo.git("config", "core.hooksPath", str(repo.top / ".git" / "hooks"))


def filters(repo: Repo, canary: Path) -> None:
    repo.git("config", "filter.f.clean", f"{canary} clean")
    repo.git("config", "filter.f.smudge", f"{canary} smudge")
    repo.git("config", "filter.f.required", "true")


def filters_with_odd_names(repo: Repo, canary: Path) -> None:
    """A name that is a name of ours for a driver, with dots and equals signs."""
    repo.git("config", "filter.x=y.z.smudge", f"{canary} smudge")
    repo.git("config", "filter.x=y.z.clean", f"{canary} clean")
    (repo.top / ".git" / "info" / "attributes").write_text("* filter=x=y.z\n", encoding="utf-8")


def filter_process(repo: Repo, canary: Path) -> None:
    repo.git("config", "filter.f.process", f"{canary} process")
    repo.git("config", "filter.f.required", "true")


def filters_included(repo: Repo, canary: Path) -> None:
    (repo.top / ".git" / "more").write_text(f'[filter "f"]\n\tsmudge = {canary} smudge\n\tclean = {canary} clean\n')
    repo.git("config", "include.path", "more")


def filters_included_on_a_condition(repo: Repo, canary: Path) -> None:
    """Only for worktrees: what is looked through in the main one alone misses it."""
    (repo.top / ".git" / "more").write_text(f'[filter "f"]\n\tsmudge = {canary} smudge\n\tclean = {canary} clean\n')
    repo.git("config", "includeIf.gitdir:**/worktrees/**.path", "more")


def filters_of_worktrees(repo: Repo, canary: Path) -> None:
    """Once a worktree is there, it has a configuration of its own."""
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "filter.f.smudge", f"{canary} smudge")
    repo.git("config", "--worktree", "filter.f.clean", f"{canary} clean")


def fsmonitor(repo: Repo, canary: Path) -> None:
    repo.git("config", "core.fsmonitor", str(canary))
    repo.git("config", "core.fsmonitorHookVersion", "1")


def merge_driver(repo: Repo, canary: Path) -> None:
    repo.git("config", "merge.m.driver", f"{canary} %A %O %B")
    repo.git("config", "merge.default", "m")


def diff_programs(repo: Repo, canary: Path) -> None:
    repo.git("config", "diff.external", str(canary))
    repo.git("config", "diff.d.command", str(canary))
    repo.git("config", "diff.d.textconv", str(canary))


def signing(repo: Repo, canary: Path) -> None:
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "gpg.program", str(canary))
    repo.git("config", "gpg.format", "ssh")
    repo.git("config", "gpg.ssh.program", str(canary))
    repo.git("config", "user.signingKey", "x")


def helpers(repo: Repo, canary: Path) -> None:
    for key in ("core.editor", "core.sshCommand", "core.askPass", "core.pager", "sequence.editor", "credential.helper"):
        repo.git("config", key, str(canary))
    repo.git("config", "alias.worktree", f"!{canary}")


def missing_objects(repo: Repo, canary: Path) -> None:
    """A partial clone fetches what it lacks, by the command that it names."""
    repo.git("config", "remote.origin.url", "ext::" + str(canary))
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.partialclonefilter", "blob:none")
    repo.git("config", "remote.origin.uploadpack", str(canary))
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "protocol.allow", "always")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.partialClone", "origin")


TRAPS = (
    hooks,
    hooks_path,
    filters,
    filters_with_odd_names,
    filter_process,
    filters_included,
    filters_included_on_a_condition,
    filters_of_worktrees,
    fsmonitor,
    diff_programs,
    signing,
    helpers,
)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
async def test_nothing_that_a_repository_names_is_run(
    yard: Yard, canary: Path, trap: Callable[[Repo, Path], None]
) -> None:
    """From the making to the removal, with a merge of both sides, in a repository that is one trap."""
    repo = yard.repo
    repo.commit("attributes", __gitattributes="*.txt filter=f merge=m diff=d\n")
    repo.commit("more", c__txt="1\n2\n3\n4\n5\n6\n")
    trap(repo, canary)
    one = await yard.make()
    assert one.status == "active", one.trouble
    assert sung(canary) == []
    tree = inside(one)
    tree.write("c.txt", "1\n2\n3\n4\n5\nsix\n")
    tree.write("d.txt", "d\n")
    repo.write("e.txt", "e\n")
    with_care = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.f.clean=cat")
    care = (*with_care, "-c", "filter.f.process=", "-c", "filter.x=y.z.clean=cat", "-c", "commit.gpgSign=false")
    (repo.top / ".git" / "info" / "attributes").unlink(missing_ok=True)
    repo.write(".git/info/attributes", "*.txt -filter\n")
    repo.git(*care, "add", "e.txt")
    repo.git(*care, "commit", "--quiet", "-m", "ours")
    repo.git(*care, "rm", "--quiet", "--cached", "b.txt")
    repo.git(*care, "commit", "--quiet", "-m", "without b")
    repo.write(".git/info/attributes", "*.txt merge=m diff=d\n*.txt filter=f\n")
    canary.with_name("sung").unlink(missing_ok=True)
    repo.git("-c", "core.hooksPath=/dev/null", "symbolic-ref", "HEAD", "refs/heads/elsewhere")
    canary.with_name("sung").unlink(missing_ok=True)
    merged = await yard.merge(one.id)
    assert merged.status == "merged", merged.trouble
    found = await yard.worktrees.repository(merged)
    assert b"+six" in await found.diff(str(merged.base_commit), str(merged.merge_commit))
    removed = await yard.remove(one.id)
    assert removed.path is None, removed.trouble
    assert sung(canary) == []
    assert repo.show("main:c.txt") == "1\n2\n3\n4\n5\nsix"


async def test_what_a_repository_lacks_is_not_fetched(yard: Yard, canary: Path) -> None:
    missing_objects(yard.repo, canary)
    blob = yard.repo.tip("main:a.txt")
    (yard.repo.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    refused = await yard.make()
    assert (refused.status, refused.trouble["code"]) == ("abandoned", "GIT_FAILED")
    assert sung(canary) == []
    assert (yard.repo.worktrees(), yard.repo.branches()) == ([yard.repo.top], ["main"])


async def test_a_merge_driver_is_replaced_by_the_merge_of_git(yard: Yard, canary: Path) -> None:
    """And not by one side alone."""
    yard.repo.commit("attributes", __gitattributes="*.txt merge=m\n")
    merge_driver(yard.repo, canary)
    one = await yard.make()
    inside(one).commit("theirs", a__txt="one\ntwo\nTHREE\n")
    yard.repo.commit("ours", a__txt="ONE\ntwo\nthree\n")
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.read("a.txt") == "ONE\ntwo\nTHREE\n"
    assert sung(canary) == []


async def test_the_canaries_sing_for_who_takes_no_care(yard: Yard, canary: Path) -> None:
    """Or the test above would prove nothing."""
    yard.repo.commit("attributes", __gitattributes="*.txt filter=f merge=m\n")
    for trap in (hooks, filters, fsmonitor):
        trap(yard.repo, canary)
    yard.repo.git("worktree", "add", "--quiet", "-b", "x", str(yard.repo.top.parent / "x"))
    assert any(line.startswith("smudge") for line in sung(canary))
    Repo(yard.repo.top.parent / "x").write("a.txt", "changed\n")
    Repo(yard.repo.top.parent / "x").git("add", "a.txt")
    assert any(line.startswith("clean") for line in sung(canary))
    assert any(line.startswith("0000000") for line in sung(canary)), sung(canary)  # post-checkout


async def test_variables_from_outside_change_nothing(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert (await yard.make()).status == "active"
    assert not (tmp_path / "index").exists()


async def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotARepository):
        await repository.found(tmp_path, MARKER)
    with pytest.raises(NotARepository):
        await repository.found(tmp_path / "nowhere", MARKER)


async def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    Repo(tmp_path).git("init", "--quiet", "--bare", "bare")
    with pytest.raises(BareRepository):
        await repository.found(tmp_path / "bare", MARKER)


async def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    Repo(tmp_path).git("init", "--quiet", "-b", "main")
    found = await repository.found(tmp_path, MARKER)
    with pytest.raises(UnbornBranch):
        await found.base("")


async def test_an_old_git_is_refused(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\necho git version 2.37.9\n", encoding="utf-8")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(GitTooOld, match=r"2\.38 or newer"):
        await git.at(repo.top, MARKER)
    (tmp_path / "bin" / "git").unlink()
    with pytest.raises(ProgramNotFound):
        await git.at(repo.top, MARKER)


async def test_a_lock_is_told(repo: Repo) -> None:
    found = await repository.found(repo.top, MARKER)
    (repo.top / ".git" / "index.lock").touch()
    with pytest.raises(RepositoryLocked):
        await found.git.run(
            "update-index", "--add", "--cacheinfo", "100644", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "x"
        )


async def test_a_worktree_that_another_git_is_only_making_is_waited_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await repository.found(repo.top, MARKER)
    half_made = repo.top / ".git" / "worktrees" / "another"
    half_made.mkdir(parents=True)
    (half_made / "gitdir").write_text(f"{repo.top}/another/.git\n", encoding="utf-8")
    (half_made / "HEAD").write_text("ref: refs/heads/another\n", encoding="utf-8")
    (half_made / "commondir").touch()
    with monkeypatch.context() as patch:
        patch.setattr(git, "_PAUSES", ())
        with pytest.raises(GitFailed, match="commondir"):
            await found.git.run("worktree", "list")
    written = partial((half_made / "commondir").write_text, "../..\n", encoding="utf-8")
    asyncio.get_running_loop().call_later(0.05, written)
    assert b"another" in (await found.git.run("worktree", "list")).out


async def test_only_repositories_of_the_project_are_reached(repo: Repo, tmp_path: Path) -> None:
    below, beside = repos.make(repo.top / "libs" / "below"), repos.make(tmp_path / "beside")
    assert (await repository.found(below.top, MARKER, repo.top)).top == below.top
    assert (await repository.found(repo.top, MARKER, repo.top)).top == repo.top
    (repo.top / "link").symlink_to(beside.top)
    for path in (beside.top, repo.top / "link", repo.top / ".." / "beside"):
        with pytest.raises(RepositoryElsewhere):
            await repository.found(path, MARKER, repo.top)
    # A folder of the project that is another repository's worktree.
    beside.git("worktree", "add", "--quiet", str(repo.top / "sneaky"))
    with pytest.raises(RepositoryElsewhere):
        await repository.found(repo.top / "sneaky", MARKER, repo.top)
