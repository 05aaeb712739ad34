"""Workers on a board as processes of their own, and one who kills and stops them at random.

To load the modules takes longer than a worker lives, so this process loads them once and forks. It ends with 0 when the
workers have found nothing left to do, and says how often it has killed.
"""

import asyncio
import os
import random
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from moot.app.stores import open_store
from moot.board import boards, claims, progress, tasks
from moot.board.claims import Holder, Taken
from moot.board.errors import ClaimLost
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import DEFAULT_INSTANCE, AgentId, BoardId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.runner.worktrees import Worktrees
from moot.store import postgres as postgres  # which a store would load when it is opened
from moot.store import sqlite as sqlite
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace

WORKERS = 8
LONGEST_LEASE = 0.3
STOPPED = LONGEST_LEASE + 0.1
_OVERRUNS, _STOPS = 0.03, 0.1  # of tasks, and instead of kills


@dataclass(frozen=True)
class Work:
    """What one of them does until nothing is left: claims a task, takes its time, and says that it is done."""

    store: Store
    board: BoardId
    holder: Holder
    log: int
    chance: random.Random

    async def run(self) -> None:
        with self.store.listen() as signal:
            while True:
                signal.clear()
                status, stream, found = await self.store.read(self._look)
                if status == "completed":
                    return
                if found:
                    await self._do(self.chance.choice(found), stream)
                else:
                    await signal.wait(0.05)  # nobody tells when a lease runs out

    def _look(self, tx: ReadTx) -> tuple[str, StreamId, list[Task]]:
        board = boards.get(tx, self.board)
        return board.status, board.stream, tasks.available(tx, self.board, 20)

    async def _do(self, task: Task, stream: StreamId) -> None:
        lease = self.chance.uniform(LONGEST_LEASE / 3, LONGEST_LEASE)
        is_overrun = self.chance.random() < _OVERRUNS
        taken = await self.store.write(
            lambda tx: claims.claim(tx, task.id, self.holder, stream, timedelta(seconds=lease)), caller=SYSTEM
        )
        if not isinstance(taken, Taken):
            return
        await asyncio.sleep(lease + 0.05 if is_overrun else self.chance.uniform(0, 0.005))

        def complete(tx: Tx) -> None:
            held = claims.hold(tx, task.id, self.holder.hand, stream)
            progress.complete(tx, held, Result(f"done by {self.holder.name}", by=self.holder.agent))

        try:
            await self.store.write(complete, caller=SYSTEM)
            word = "done"
        except ClaimLost:
            word = "lost"
        os.write(self.log, f"{word} {task.name} {taken.fence}\n".encode())


@dataclass(frozen=True)
class Craft(Work):
    """The same in worktrees: in each is what the task needs, and what comes of it is left there, merged or removed."""

    worktrees: Worktrees

    async def _do(self, task: Task, stream: StreamId) -> None:
        claimed = await self.store.write(lambda tx: self._claim(tx, task, stream), caller=SYSTEM)
        if claimed is None:
            return
        await self.worktrees.carry_out(claimed.id)
        where, needs = await self.store.read(lambda tx: (workspaces.get(tx, claimed.id), tasks.needs(tx, task.id)))
        if where.path is None or where.status != "active" or not Path(where.path).is_dir():
            return  # somebody else, who has it by now, is further
        for need in needs:
            if not (Path(where.path) / f"{need.name}.txt").is_file():
                os.write(self.log, f"missing {need.name} {task.name}\n".encode())
        with suppress(FileNotFoundError):
            (Path(where.path) / f"{task.name}.txt").write_text(task.name)
        try:
            await self.store.write(lambda tx: self._complete(tx, task, stream), caller=SYSTEM)
        except ClaimLost:
            return
        with suppress(MootError):  # somebody builds on it, or it waits for something else
            if (wish := self.chance.choice(("merge", "remove", None))) is not None:
                await self.store.write(lambda tx: isolation.ask(tx, where.id, wish), caller=SYSTEM)
                await self.worktrees.carry_out(where.id)

    def _claim(self, tx: Tx, task: Task, stream: StreamId) -> Workspace | None:
        taken = claims.claim(tx, task.id, self.holder, stream, timedelta(seconds=self.chance.uniform(1, 4)))
        if not isinstance(taken, Taken):
            return None
        agent = agents.find(tx, stream, "crafter")
        agent = agent or agents.register(tx, instances.ensure(tx, DEFAULT_INSTANCE), NewAgent("crafter"))
        found = isolation.for_task(tx, boards.get(tx, self.board), task.id, task.name, agent)
        assert found is not None
        workspaces.settle(tx, found.id, self.worktrees.place)
        return found

    def _complete(self, tx: Tx, task: Task, stream: StreamId) -> None:
        held = claims.hold(tx, task.id, self.holder.hand, stream)
        progress.complete(tx, held, Result("done", by=self.holder.agent))


async def work(url: str, board: str, name: str, log: int, project: str) -> None:
    store = open_store(url, create=False)
    holder = Holder(AgentId(f"ag_{name}"), name, f"tok_{name}")
    worker = Work(store, BoardId(board), holder, log, random.Random(name))
    if project:
        where = Worktrees(store, Path(project), Path(project) / ".workflow")
        worker = Craft(store, BoardId(board), holder, log, random.Random(name), where)
    await worker.run()
    await store.close()


@dataclass
class Killer:
    """Keeps eight workers alive, and few of them for long."""

    url: str
    board: str
    log: int
    chance: random.Random
    project: str = ""  # where they work in worktrees
    started: int = 0
    killed: int = 0
    alive: list[int] = field(default_factory=list[int])
    stopped: dict[int, float] = field(default_factory=dict[int, float])  # until when

    def run(self, kills: int) -> None:
        for _ in range(WORKERS):
            self._start()
        while self.alive:
            signal.sigtimedwait(
                [signal.SIGCHLD], self.chance.uniform(0, 1.0 if self.project else 0.15)
            )  # or one has ended
            self._reap()
            self._wake()
            if self.alive and self.killed < kills:
                self._strike(self.chance.choice(self.alive))

    def _start(self) -> None:
        self.started += 1
        name = f"{os.getpid()}_{self.started}"
        pid = os.fork()
        if pid:
            self.alive.append(pid)
            return
        code = 1
        try:
            asyncio.run(work(self.url, self.board, name, self.log, self.project))
            code = 0
        except BaseException:  # noqa: BLE001  # a fork never returns
            traceback.print_exc()
        finally:
            os._exit(code)

    def _strike(self, pid: int) -> None:
        if self.chance.random() < _STOPS and pid not in self.stopped:
            os.kill(pid, signal.SIGSTOP)
            self.stopped[pid] = time.monotonic() + STOPPED
            return
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.alive.remove(pid)
        self.stopped.pop(pid, None)
        self.killed += 1
        self._start()

    def _wake(self) -> None:
        for pid in [pid for pid, until in self.stopped.items() if until <= time.monotonic()]:
            del self.stopped[pid]
            os.kill(pid, signal.SIGCONT)

    def _reap(self) -> None:
        """Those who have found nothing left to do; anything else is a fault."""
        for pid in list(self.alive):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                assert status == 0, f"a worker ended with {status}"
                self.alive.remove(pid)


async def claim_and_sleep(url: str, board: str) -> None:
    """Claim what there is, say so, and complete it after a line was heard."""
    store = open_store(url, create=False)
    holder = Holder(AgentId("ag_sleeper"), "sleeper", "tok_sleeper")
    stream = (await store.read(lambda tx: boards.get(tx, BoardId(board)))).stream
    (task,) = await store.read(lambda tx: tasks.available(tx, BoardId(board), 1))
    lease = timedelta(seconds=LONGEST_LEASE)
    await store.write(lambda tx: claims.claim(tx, task.id, holder, stream, lease), caller=SYSTEM)
    say("claimed")
    await asyncio.to_thread(sys.stdin.readline)
    try:
        await store.write(
            lambda tx: progress.complete(tx, claims.hold(tx, task.id, holder.hand, stream), Result("done")),
            caller=SYSTEM,
        )
        say("completed")
    except ClaimLost as error:
        say(error.code)
    await store.close()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(url: str, board: str, log: str, kills: str, seed: str, project: str = "") -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    written = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    killer = Killer(url, board, written, random.Random(seed), project)
    try:
        killer.run(int(kills))
    finally:
        for pid in killer.alive:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    say(str(killer.killed))


if __name__ == "__main__":
    if sys.argv[1] == "sleeper":
        asyncio.run(claim_and_sleep(*sys.argv[2:]))
    else:
        main(*sys.argv[1:])
