"""The end of requests whose time is up, whether or not anybody touches them."""

import contextlib
from dataclasses import dataclass
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.ids import RequestId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools import asking


@dataclass(frozen=True, slots=True)
class RequestExpiryWorker:
    """Carries out the jobs of kind `expire_request`."""

    store: Store

    def begin(self, tx: Tx, job: Job) -> Task | None:
        # In a transaction of its own: this one takes other jobs, too, and must not hold the stream meanwhile.
        return partial(self._expire, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """It is done again: what is over does not expire."""

    async def _expire(self, job: Job) -> None:
        with contextlib.suppress(JobLost):  # the answer came first, or another host
            await self.store.write(partial(end, job=job), caller=SYSTEM)


def end(tx: Tx, job: Job) -> None:
    """End the request, and the job with it."""
    # The request before the job, like those who answer: the answer cancels the timer.
    asking.expire(tx, RequestId(job.subject))
    jobs.finish(tx, job)
