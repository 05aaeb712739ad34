"""What a killed git has left locked is free again; what somebody may hold is not."""

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.workspaces import locks, workspaces
from moot.workspaces.workspaces import Workspace
from tests.workspaces.conftest import Yard, inside


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.runner.upkeep._PAUSES", (0.01,))


def places(yard: Yard, one: Workspace) -> list[Path]:
    git = yard.repo.top / ".git"
    note = git / "worktrees" / one.id
    return [note / "index.lock", note / "HEAD.lock", git / "refs" / "heads" / f"{one.branch}.lock"]


def leave(lock: Path, seconds: float = 60) -> Path:
    lock.touch()
    then = time.time() - seconds
    os.utime(lock, (then, then))
    return lock


@contextmanager
def at_work_in(folder: Path) -> Generator[None]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=folder):
        yield


@pytest.mark.parametrize("number", range(3))
async def test_what_a_killed_git_has_left_holds_up_no_merge(yard: Yard, number: int) -> None:
    one = await yard.make()
    inside(one).write("new.txt", "not committed\n")
    lock = leave(places(yard, one)[number])
    assert (await yard.merge(one.id)).status == "merged"
    assert yard.repo.read("new.txt") == "not committed\n"
    assert number == 1 or not lock.exists()  # that of HEAD was in nobody's way


@pytest.mark.parametrize("number", [0, 2])
async def test_who_is_at_work_there_may_hold_it(yard: Yard, number: int) -> None:
    one = await yard.make()
    inside(one).write("new.txt", "not committed\n")
    lock = leave(places(yard, one)[number])
    with at_work_in(inside(one).top):
        refused = await yard.merge(one.id)
    assert refused.trouble is not None
    assert (refused.trouble["code"], lock.exists()) == ("REPOSITORY_LOCKED", True)
    assert (await yard.merge(one.id)).status == "merged"


async def test_one_that_is_new_may_be_somebodys(yard: Yard) -> None:
    one = await yard.make()
    inside(one).write("new.txt", "not committed\n")
    lock = leave(places(yard, one)[2], seconds=-60)
    refused = await yard.merge(one.id)
    assert refused.trouble is not None
    assert (refused.trouble["code"], lock.exists()) == ("REPOSITORY_LOCKED", True)


async def test_that_of_a_branch_that_is_a_persons_stays(yard: Yard) -> None:
    yard.repo.git("branch", "fix")
    one = await yard.make()
    assert not one.is_branch_ours
    inside(one).write("new.txt", "not committed\n")
    lock = leave(places(yard, one)[2])
    refused = await yard.merge(one.id)
    assert refused.trouble is not None
    assert (refused.trouble["code"], lock.exists()) == ("REPOSITORY_LOCKED", True)


async def test_who_works_there_next_finds_it_free(yard: Yard) -> None:
    def register(tx: Tx) -> Agent:
        return agents.register(tx, instances.ensure(tx, DEFAULT_INSTANCE), NewAgent("ann"))

    ann = await yard.store.write(register, caller=SYSTEM)
    folder = await yard.worktrees.of_agent(ann)
    (one,) = await yard.store.read(lambda tx: workspaces.all_of(tx, DEFAULT_INSTANCE))
    assert not locks.may_be_left(folder, one)
    for lock in places(yard, one):
        leave(lock)
    assert locks.may_be_left(folder, one)
    assert await yard.worktrees.of_agent(ann) == folder
    assert [lock for lock in places(yard, one) if lock.exists()] == []
    inside(one).commit("works", new__txt="new\n")
