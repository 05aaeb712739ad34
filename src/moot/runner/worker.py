"""The contract of a job's worker: a part inside the transaction that takes the job, and a part after it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from moot.core.tx import Tx
from moot.jobs.jobs import Job

Task = Callable[[], Awaitable[None]]


class Worker(Protocol):
    """One for each kind of job."""

    def begin(self, tx: Tx, job: Job) -> Task | None:
        """Under the lease: note what is going to happen. None if nothing is left to do (the job is then closed)."""
        ...

    def late(self, tx: Tx, job: Job) -> None:
        """The deadline of this job passed while nobody was at it, and it has failed: see to what was waiting for it."""
        ...

    def lost(self, tx: Tx, job: Job) -> None:
        """The owner of this job is gone: put right what it left half done."""
        ...
