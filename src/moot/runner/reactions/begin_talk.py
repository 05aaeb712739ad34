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
    if terms.purpose != "document_owner":
        return
    run = runs.live(tx, terms.instance)
    newest = proposals.latest_for(tx, terms.stream, "document_owner")
    is_its_own = newest is not None and newest.id == terms.id  # and not that of a run before
    if run is not None and run.phase == "election" and is_its_own:
        jobs.add(tx, NewJob(f"kickoff:{run.id}", KICKOFF, run.stream, run.id))
