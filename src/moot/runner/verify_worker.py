"""The job that looks whether a task is done: commands, files and schemas at once, people and votes when they answer.

What it finds is on record before it looks at the next. After a crash a check is made again: it changes nothing.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from moot.board import tasks
from moot.board.checks import Check
from moot.board.evidence import Approval, Command, Existing, Fitting
from moot.core import secrecy
from moot.core.caller import SYSTEM
from moot.core.ids import TaskId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.process import child, environment, sweep
from moot.process.guardian import Guardian
from moot.process.program import Program, shell_argv
from moot.registry import agents
from moot.runner.worker import Task
from moot.runner.worktrees import Worktrees
from moot.session import schemas
from moot.store.store import Store
from moot.tools import verifying
from moot.workspaces import branches, workspaces
from moot.workspaces.workspaces import Workspace

T = TypeVar("T")
_SHOWN = 4000  # characters of what a failed command printed


@record
class VerifyWorker:
    """Carries out the jobs of kind `verify`."""

    store: Store
    worktrees: Worktrees
    guardian: Guardian  # ends commands, should this process be killed
    is_told: Callable[[Job], bool] = lambda job: False  # what comes of it, by somebody else: then nobody looks here

    def begin(self, tx: Tx, job: Job) -> Task | None:
        if verifying.next_check(tx, TaskId(job.subject)) is None:
            jobs.finish(tx, job)
            return None
        return partial(self._carry_out, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline; each command has its own."""

    def lost(self, tx: Tx, job: Job) -> None:
        """Nothing is half done in the store; the next owner makes the check again."""

    async def _carry_out(self, job: Job) -> None:
        try:
            if job.losses:  # what a host that was killed has left running would get in the way
                await asyncio.to_thread(sweep.kill_marked, _marker(job))
            while await self._look_once(job):
                pass
        except asyncio.CancelledError:
            await self._write(lambda tx: jobs.put_back(tx, job))
            raise
        except JobLost:
            return
        with contextlib.suppress(JobLost):
            await self._write(lambda tx: jobs.finish(tx, job))

    async def _look_once(self, job: Job) -> bool:
        """False when nothing is left to look at now."""
        check = await self.store.read(lambda tx: verifying.next_check(tx, TaskId(job.subject)))
        if check is None:
            return False
        wanted, is_told = check.evidence, self.is_told(job)
        if is_told and (check.subject is not None or not isinstance(wanted, Approval)):
            return False
        if isinstance(wanted, Approval):
            return await self._write(partial(_approved, job=job, check=check, wanted=wanted))
        trouble = await self._trouble(job, check, wanted)
        await self._write(partial(_settle, job=job, check=check, trouble=trouble))
        return True

    async def _trouble(self, job: Job, check: Check, wanted: Command | Existing | Fitting) -> str | None:
        match wanted:
            case Command():
                return await self._run(job, wanted, await self._folder(check))
            case Existing():
                folder = await self._folder(check)
                is_there = await asyncio.to_thread((folder / wanted.path).exists)
                return None if is_there else f"the file {wanted.path} is not there."
            case Fitting():
                detail = (await self.store.read(lambda tx: tasks.get(tx, check.task))).outcome_detail
                found = await schemas.mismatch(dict(detail), wanted.schema)
                return None if found is None else f"its outcome_detail does not fit: {found}"

    async def _run(self, job: Job, wanted: Command, folder: Path) -> str | None:
        env = environment.build({"MOOT_TASK": job.subject})
        program = Program(
            shell_argv(wanted.line),
            cwd=folder,
            env=env,
            secrets=secrecy.secrets_of(env),
            deadline=wanted.timeout.total_seconds(),
            marker=_marker(job),
        )
        with self.guardian.guarding(_marker(job)):
            finished = await child.run(program)
        if finished.ended == "exited" and finished.exit_code == wanted.exit_code:
            return None
        return f"`{wanted.line[:200]}` {finished.how}.\n{finished.printed(_SHOWN)}".strip()

    async def _folder(self, check: Check) -> Path:
        """Where it was worked on: in its own worktree, or in that of its holder, if there is one here."""
        return await self.store.read(lambda tx: self._place(tx, check.task))

    def _place(self, tx: ReadTx, task: TaskId) -> Path:
        wanted = [*workspaces.of_task(tx, task), *_of_holder(tx, task)]
        found = (one for one in wanted if one.status == "active" and one.path is not None)
        here = next((one.path for one in found if one.place == self.worktrees.place), None)
        return self.worktrees.root if here is None else Path(here)

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


def _of_holder(tx: ReadTx, id: TaskId) -> list[Workspace]:
    holder = tasks.get(tx, id).holder
    agent = None if holder is None else agents.get(tx, holder)
    if agent is None or agent.settings.get("workspace") != "worktree":
        return []
    found = workspaces.on_branch(tx, branches.default(agent.instance, agent.name))
    return [found] if found is not None and found.created_name == agent.name else []


def _marker(job: Job) -> str:
    return f"verify-{job.id}"


def _settle(tx: Tx, job: Job, check: Check, trouble: str | None) -> None:
    jobs.guard(tx, job)
    verifying.settle(tx, check, trouble)


def _approved(tx: Tx, job: Job, check: Check, wanted: Approval) -> bool:
    """Whether that is decided."""
    jobs.guard(tx, job)
    found = verifying.approval(tx, check, wanted)
    if found is None:
        return False
    verifying.settle(tx, check, found or None)
    return True
