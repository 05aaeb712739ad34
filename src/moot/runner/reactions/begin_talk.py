"""A vote is over: if it was the election before a run's kickoff, the run goes on."""

from moot.core.events import StoredEvent
from moot.core.ids import ProposalId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.proposals import proposals
from moot.registry import runs

KICKOFF = "kickoff"


def begin_talk(tx: Tx, event: StoredEvent) -> None:
    terms = proposals.get(tx, ProposalId(event.subject)).terms
    run = runs.live(tx, terms.instance)
    if terms.purpose == "document_owner" and run is not None and run.phase == "election":
        jobs.add(tx, NewJob(f"kickoff:{run.id}", KICKOFF, run.stream, run.id))
