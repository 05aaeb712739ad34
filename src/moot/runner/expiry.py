"""The end of proposals whose time is up, whether or not anybody touches them."""

import contextlib
from dataclasses import dataclass
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.ids import ProposalId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools import voting


@dataclass(frozen=True, slots=True)
class ExpiryWorker:
    """Carries out the jobs of kind `expire_proposal`."""

    store: Store

    def begin(self, tx: Tx, job: Job) -> Task | None:
        # In a transaction of its own: this one takes other jobs, too, and must not hold the stream meanwhile.
        return partial(self._expire, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """It is done again: what is over does not expire."""

    async def _expire(self, job: Job) -> None:
        with contextlib.suppress(JobLost):  # the last vote came first, or another host
            await self.store.write(partial(end, job=job), caller=SYSTEM)


def end(tx: Tx, job: Job) -> None:
    """End the proposal, and the job with it."""
    # The proposal before the job, like those who vote: the last vote cancels the timer.
    voting.expire(tx, ProposalId(job.subject))
    jobs.finish(tx, job)
