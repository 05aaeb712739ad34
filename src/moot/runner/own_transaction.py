"""The worker of jobs that are one change of the store: each is carried out in a transaction of its own."""

import contextlib
from collections.abc import Callable
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs.jobs import Job, JobLost
from moot.runner.worker import Task
from moot.store.store import Store


@record
class OwnTransaction:
    """`carry_out` makes the change and ends the job with it."""

    store: Store
    carry_out: Callable[[Tx, Job], None]

    def begin(self, tx: Tx, job: Job) -> Task | None:
        # Not in this transaction: it takes other jobs, too, and must not hold the stream meanwhile.
        return partial(self._carry_out, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """It is done again: nothing of it was committed."""

    async def _carry_out(self, job: Job) -> None:
        with contextlib.suppress(JobLost):  # what it waited for came first, or another host
            await self.store.write(lambda tx: self.carry_out(tx, job), caller=SYSTEM)
