"""Workers that are killed and stopped at random over a plan of thousands of tasks: each task is completed once, after
what it needs, and none is left."""

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from moot.app.stores import open_store
from moot.board import applying, tasks
from moot.board.claims import CLAIMED, Taken
from moot.board.plans import Need, Plan, Planned
from moot.board.progress import STATUS
from moot.core.caller import SYSTEM
from moot.core.events import Cursor, StoredEvent
from moot.process import tree
from moot.runner import upkeep
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import workspaces
from tests.board.desk import BOB, Desk, desk
from tests.workspaces import repos

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
TASKS = 2000


def plan(chance: random.Random, size: int) -> Plan:
    """Wide enough for all to find work, with needs that reach back up to a hundred tasks."""
    return Plan(
        tasks=tuple(
            Planned(
                f"t{number}",
                needs=tuple(
                    Need(f"t{other}")
                    for other in {chance.randrange(max(0, number - 100), number) for _ in range(chance.randrange(4))}
                )
                if number
                else (),
            )
            for number in range(size)
        )
    )


async def killed_workers(url: str, made: Desk, log: Path, kills: int, seed: int, project: str = "") -> int:
    """How many were killed until everything was done."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.stories.board_workers"),
        *(url, made.board.id, str(log), str(kills), str(seed), project),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)  # it takes its workers with it
            await process.wait()
    assert process.returncode == 0
    return int(out)


async def story(store: Store, url: str, folder: Path, kills: int, size: int = TASKS) -> int:
    """How many were killed, over one plan."""
    chance = random.Random(kills)
    made = await desk(store)
    needed = plan(chance, size)
    await applying.apply(store, made.board.id, needed, SYSTEM)
    log = folder / f"log_{made.board.id}"
    killed = await killed_workers(url, made, log, kills, chance.randrange(10**6))
    assert await made.status() == "completed"
    await everything_was_done_once_and_in_order(made, needed, log.read_text().splitlines())
    return killed


async def everything_was_done_once_and_in_order(made: Desk, needed: Plan, log: list[str]) -> None:
    stored = await made.store.read(lambda tx: tasks.page(tx, made.board.id, limit=len(needed.tasks)))
    ids: dict[str, str] = {one.id: one.name for one in stored}
    claimed: dict[str, int] = {}  # when first
    completed: Counter[str] = Counter()
    ended: dict[str, int] = {}
    last_fence: Counter[str] = Counter()
    for event in await all_events(made):
        name = ids.get(event.subject, "")
        if event.kind == CLAIMED and name:
            claimed.setdefault(name, event.seq)
            assert event.data["fence"] == last_fence[name] + 1
            assert name not in ended, "claimed after its end"
            last_fence[name] += 1
        elif event.kind == STATUS and event.data["status"] == "completed":
            completed[name] += 1
            ended[name] = event.seq
    assert completed == Counter(task.name for task in needed.tasks)
    for task in needed.tasks:
        assert all(ended[need.name] < claimed[task.name] for need in task.needs)
    done = Counter(tuple(line.split()[1:]) for line in log if line.startswith("done "))
    assert max(done.values()) == 1
    assert all(last_fence[name] == int(fence) for name, fence in done), "completed by somebody who had lost it"
    assert any(line.startswith("lost ") for line in log), "nobody overran its lease"
    assert max(last_fence.values()) > 1, "nothing was taken over"


async def all_events(made: Desk) -> list[StoredEvent]:
    found: list[StoredEvent] = []
    cursor: Cursor = {}
    while (page := await made.store.feed(made.board.stream).page(cursor, 1000)).events:
        found += page.events
        cursor = page.cursor
    return found


@pytest.mark.timeout(180)
async def test_nothing_is_done_twice_lost_or_too_early_over_many_kills(shared: Store, url: str, tmp_path: Path) -> None:
    is_sqlite = url.startswith("sqlite")
    kills, size = (50, TASKS) if is_sqlite else (15, TASKS // 4)
    assert await story(shared, url, tmp_path, kills, size) == kills


@pytest.mark.chaos
@pytest.mark.timeout(3600)
async def test_nothing_is_done_twice_lost_or_too_early_over_thousands_of_kills(
    shared: Store, url: str, tmp_path: Path
) -> None:
    wanted = int(os.environ.get("MOOT_KILLS", "5000")) // 2  # on each of the two databases
    killed = 0
    while killed < wanted:
        killed += await story(shared, url, tmp_path, kills=wanted - killed, size=2 * TASKS)
    assert killed == wanted


async def crafted(folder: Path, monkeypatch: pytest.MonkeyPatch, kills: int, size: int) -> None:
    """A plan that is done in worktrees, by those who are killed over it; then the next host puts things in order."""
    monkeypatch.setenv("HOME", str(folder))
    repo = repos.make(folder / "project")
    own = repo.top / ".workflow"
    own.mkdir(mode=0o700)
    url = f"sqlite:///{own / 'moot.db'}"
    store = open_store(url, create=True)
    needed = plan(random.Random(kills), size)
    made = await desk(store, makes_workspaces=True)
    await applying.apply(store, made.board.id, needed, SYSTEM)
    assert await killed_workers(url, made, folder / "log", kills, kills, str(repo.top)) == kills
    assert await made.status() == "completed"
    assert (folder / "log").read_text() == "", "somebody was without what the task needs"
    worktrees = Worktrees(store, repo.top, own)
    for one in await store.read(lambda tx: workspaces.unfinished(tx, worktrees.place)):
        await worktrees.carry_out(one.id)
    left = await store.read(workspaces.everywhere)
    assert [one.wanted for one in left if one.wanted] == []
    there = {Path(one.path) for one in left if one.path is not None}
    assert set(repo.worktrees()) == {repo.top, *there}
    assert {path for path in (own / "worktrees").iterdir() if path.suffix != ".lock"} == there
    assert {path.name for path in (repo.top / ".git" / "worktrees").glob("*")} == {path.name for path in there}
    assert not any(tree.Tree(upkeep.marker(one)).members() for one in left)
    unmerged = {one.branch for one in left if one.status != "merged"}
    assert set(repo.branches()) <= {"main", *unmerged, *(one.branch for one in left if one.path)}
    # Nothing that was done is lost: all of it comes together.
    for one in left:
        if one.status == "active":
            await store.write(lambda tx, id=one.id: isolation.ask(tx, id, "merge"), caller=SYSTEM)
            await worktrees.carry_out(one.id)
    for branch in sorted(set(repo.branches()) - {"main"}):
        repo.git("merge", "--quiet", "--no-edit", branch)
    done = {path.stem for path in repo.top.glob("t*.txt")}
    assert done == {task.name for task in needed.tasks}
    await store.close()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_worktrees_are_whole_and_none_is_left_over_when_those_at_work_in_them_are_killed(
    anyio_backend: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crafted(tmp_path, monkeypatch, kills=8, size=10)


@pytest.mark.chaos
@pytest.mark.timeout(3600)
async def test_worktrees_are_whole_and_none_is_left_over_over_hundreds_of_kills(
    anyio_backend: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for turn in range(int(os.environ.get("MOOT_KILLS", "5000")) // 500):
        (folder := tmp_path / str(turn)).mkdir()
        await crafted(folder, monkeypatch, kills=50 + turn, size=60)


async def test_who_was_stopped_past_its_lease_is_refused(shared: Store, url: str) -> None:
    made = await desk(shared, "a")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.stories.board_workers", "sleeper", url, made.board.id),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(SECONDS):
            assert await process.stdout.readline() == b"claimed\n"
            process.send_signal(signal.SIGSTOP)
            process.stdin.write(b"go on\n")
            while await made.ready() != ["a"]:
                pass  # its lease runs out
            assert isinstance(await made.claim("a", BOB), Taken)
            process.send_signal(signal.SIGCONT)
            assert await process.stdout.readline() == b"CLAIM_LOST\n"
            assert await process.wait() == 0
            await made.complete("a", BOB)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (await made.task("a")).done_by == BOB.agent
