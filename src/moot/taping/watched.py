"""A worker that asks before it begins a job, and tells when one is over."""

from collections.abc import Callable

from moot.core.ids import JobId
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs.jobs import Job
from moot.runner.worker import Task, Worker


def _always(tx: Tx, job: Job) -> bool:
    return True


def _nobody(job: JobId) -> None:
    pass


@record
class Watched:
    worker: Worker
    settled: Callable[[JobId], None] = _nobody  # told when what came of a job is in the store
    may_begin: Callable[[Tx, Job], bool] = _always  # where it says no, it has seen to the job

    def begin(self, tx: Tx, job: Job) -> Task | None:
        task = self.worker.begin(tx, job) if self.may_begin(tx, job) else None
        if task is None:
            return None

        async def watched() -> None:
            try:
                await task()
            finally:
                self.settled(job.id)

        return watched

    def late(self, tx: Tx, job: Job) -> None:
        self.worker.late(tx, job)

    def lost(self, tx: Tx, job: Job) -> None:
        self.worker.lost(tx, job)
