"""The end of proposals and requests whose time is up, whether or not anybody touches them."""

from moot.core.ids import ProposalId, RequestId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.tools import asking, voting


def end_proposal(tx: Tx, job: Job) -> None:
    """End the proposal, and the job with it."""
    # The proposal before the job, like those who vote: the last vote cancels the timer.
    voting.expire(tx, ProposalId(job.subject))
    jobs.finish(tx, job)


def end_request(tx: Tx, job: Job) -> None:
    """End the request, and the job with it."""
    # The request before the job, like those who answer: the answer cancels the timer.
    asking.expire(tx, RequestId(job.subject))
    jobs.finish(tx, job)
