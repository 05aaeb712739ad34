"""The kickoff after an election: a job that is done as soon as it is begun."""

from moot.core.ids import RunId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.registry import runs
from moot.runner import phases
from moot.runner.worker import Task


class KickoffWorker:
    """Carries out the jobs of kind `kickoff`."""

    def begin(self, tx: Tx, job: Job) -> Task | None:
        jobs.finish(tx, job)
        run = runs.get(tx, RunId(job.subject))
        if run.stop_asked is None:  # else whoever resumes it goes on with the kickoff
            phases.kick_off(tx, run)
        return None

    def late(self, tx: Tx, job: Job) -> None:
        """It has no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """Nobody owns it for longer than the transaction that begins it."""
