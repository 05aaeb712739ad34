"""What is pushed is one branch, to the one remote that is meant, and no program of the repository is run for it."""

from pathlib import Path

import pytest

from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo


@pytest.fixture
def remote(tmp_path: Path, repo: Repo) -> Path:
    found = tmp_path / "remote.git"
    repo.git("init", "--quiet", "--bare", str(found))
    repo.git("remote", "add", "origin", str(found))
    return found


async def test_a_branch_is_pushed_with_what_was_not_committed_yet(yard: Yard, remote: Path) -> None:
    one = await yard.make("fix")
    inside(one).write("new.txt", "new\n")
    pushed = await yard.ask(one.id, "push")
    assert (pushed.wanted, pushed.error, pushed.status) == ("", None, "active")
    assert Repo(remote).show("fix:new.txt") == "new"
    assert Repo(remote).branches() == ["fix"]


async def test_what_somebody_else_has_pushed_there_is_not_overwritten(yard: Yard, remote: Path, repo: Repo) -> None:
    repo.git("push", "--quiet", "origin", "main:fix")
    theirs = repo.commit("theirs", other__txt="x\n")
    repo.git("push", "--quiet", "origin", "main:fix")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    one = await yard.make("fix")
    inside(one).write("new.txt", "new\n")
    refused = await yard.ask(one.id, "push")
    assert refused.error is not None
    assert Repo(remote).tip("fix") == theirs


async def test_without_a_remote_nothing_is_pushed(yard: Yard) -> None:
    one = await yard.make("fix")
    refused = await yard.ask(one.id, "push")
    assert refused.error is not None
    assert (refused.error.code, "has no remote to push to" in refused.error.fact) == ("NO_REMOTE", True)


async def test_of_several_remotes_origin_is_meant_or_none(yard: Yard, repo: Repo, remote: Path, tmp_path: Path) -> None:
    repo.git("init", "--quiet", "--bare", str(tmp_path / "other.git"))
    repo.git("remote", "add", "backup", str(tmp_path / "other.git"))
    one = await yard.make("fix")
    assert (await yard.ask(one.id, "push")).error is None
    assert Repo(tmp_path / "other.git").branches() == []
    repo.git("remote", "rename", "origin", "upstream")
    refused = await yard.ask(one.id, "push")
    assert refused.error is not None
    assert "several remotes" in refused.error.fact


async def test_programs_that_the_repository_names_are_not_run(
    yard: Yard, repo: Repo, remote: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hook = repo.top / ".git" / "hooks" / "pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    repo.git("config", "remote.origin.receivepack", f"touch {ran}; git-receive-pack")
    repo.git("config", "core.sshCommand", f"touch {ran}; false")
    repo.git("config", "credential.helper", f"!touch {ran}")
    one = await yard.make("fix")
    assert (await yard.ask(one.id, "push")).error is None
    repo.git("remote", "set-url", "origin", f"ext::sh -c 'touch {ran}'")
    assert (await yard.ask(one.id, "push")).error is not None
    repo.git("remote", "set-url", "origin", "ssh://localhost:1/nowhere")
    assert (await yard.ask(one.id, "push")).error is not None
    assert not ran.exists()
