"""The job that looks whether a task is done: commands, files and schemas at once, people and votes when they answer.

What it finds is on record before it looks at the next. After a crash a check is made again: it changes nothing.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from moot.board import tasks
from moot.board.checks import Check
from moot.board.evidence import Approval, Command, Existing, Fitting
from moot.core import secrecy
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import TaskId
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.process import child, environment, fitting, sweep
from moot.process.guardian import Guardian
from moot.process.program import Program, shell_argv
from moot.runner.worker import Task
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import teamwork, verifying

T = TypeVar("T")
_ELSEWHERE = timedelta(seconds=2)  # until a host looks again at what only another can see
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
            teamwork.finish(tx, job)
            return None
        where = verifying.where(tx, tasks.get(tx, TaskId(job.subject)))
        if where is not None and (where.wanted == "make" or where.place != self.worktrees.place):
            # Only where it was worked on, and once that is there, can be seen what came of it.
            jobs.postpone(tx, job, tx.now + _ELSEWHERE)
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
            await self._write(lambda tx: teamwork.finish(tx, job))

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
                is_there = await asyncio.to_thread(os.path.exists, folder / wanted.path)
                return None if is_there else f"the file {wanted.path} is not there."
            case Fitting():
                detail = (await self.store.read(lambda tx: tasks.get(tx, check.task))).outcome_detail
                found = await fitting.mismatch(dict(detail), wanted.schema)
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
            try:
                finished = await child.run(program)
            except MootError as error:  # the folder is gone, say
                return f"`{wanted.line[:200]}` was not run: {error}"
        if finished.ended == "exited" and finished.exit_code == wanted.exit_code:
            return None
        return f"`{wanted.line[:200]}` {finished.how}.\n{finished.printed(_SHOWN)}".strip()

    async def _folder(self, check: Check) -> Path:
        """Where it was worked on; the project, if that was in no worktree."""
        found = await self.store.read(lambda tx: verifying.where(tx, tasks.get(tx, check.task)))
        return self.worktrees.root if found is None or found.path is None else Path(found.path)

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


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
