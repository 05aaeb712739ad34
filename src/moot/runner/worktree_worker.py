"""The jobs that carry out what is wanted of workspaces, and the look for wishes that nobody has a job for."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import WorkspaceId
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.runner.worker import Task
from moot.runner.worktrees import Worktrees
from moot.tools import isolation, teamwork
from moot.workspaces import workspaces

_ELSEWHERE = timedelta(seconds=2)  # until a host looks again at what only another can do, or is doing


@record
class WorktreeWorker:
    """Carries out the jobs of kind `worktree`."""

    worktrees: Worktrees

    def begin(self, tx: Tx, job: Job) -> Task | None:
        id = WorkspaceId(job.subject)
        if not workspaces.get(tx, id).wanted:
            teamwork.finish(tx, job)
            return None
        if not workspaces.settle(tx, id, self.worktrees.place):
            jobs.postpone(tx, job, tx.now + _ELSEWHERE)
            return None
        return partial(self._carry_out, job, id)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """The wish is still there, and the next owner looks at what git has."""

    async def _carry_out(self, job: Job, id: WorkspaceId) -> None:
        try:
            await self.worktrees.carry_out(id)
        except asyncio.CancelledError:
            await self._settle(lambda tx: jobs.put_back(tx, job))
            raise
        except MootError as error:  # somebody else is at it all the time, or the store is away
            reason = str(error)
            await self._settle(lambda tx: jobs.retry(tx, job, at=tx.now + _ELSEWHERE, error=reason))
            return
        await self._settle(lambda tx: teamwork.finish(tx, job))

    async def _settle(self, change: Callable[[Tx], None]) -> None:
        with contextlib.suppress(JobLost):
            await self.worktrees.store.write(change, caller=SYSTEM)


async def take_up(worktrees: Worktrees) -> None:
    """When a host starts: what somebody has asked for without a host, and was killed before it was done."""
    found = await worktrees.store.read(lambda tx: workspaces.unfinished(tx, worktrees.place))
    if found:
        await worktrees.store.write(lambda tx: [isolation.have_done(tx, one) for one in found], caller=SYSTEM)
