"""Claims that run out: a timer gives back what nobody shows to be at work on, so that others hear of it."""

from moot.board import claims, tasks
from moot.core.ids import BoardId, StreamId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, NewJob

LAPSE = "lapse"  # the kind of job that looks


def watch(tx: Tx, stream: StreamId, board: BoardId) -> None:
    """Have somebody look when the first claim of a board may have run out. One timer for all of them: signs of life
    move none, and whoever looks too early looks again."""
    first = tasks.next_lapse(tx, board)
    if first is not None:
        jobs.add(tx, NewJob(f"{LAPSE}:{board}", LAPSE, stream, board, run_at=first))


def give_back(tx: Tx, job: Job) -> None:
    """The job: what has run out waits for somebody again."""
    board = BoardId(job.subject)
    for one in tasks.lapsed(tx, board, 1000):
        task = tasks.locked(tx, one.id)
        if task.lease_until is not None and not task.is_held(tx.now):
            claims.release(tx, task, "its time has run out")
    jobs.finish(tx, job)
    watch(tx, job.stream, board)
