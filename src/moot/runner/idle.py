"""Whether anything is left to do in a stream, as one snapshot."""

from moot.bus import mailbox
from moot.core.ids import StreamId
from moot.core.tx import ReadTx
from moot.jobs import jobs
from moot.proposals import proposals
from moot.registry import agents
from moot.requests import requests
from moot.store import feed

# Jobs that only watch the time: what they wait for is looked at itself.
HOUSEKEEPING = frozenset(("expire_proposal", "expire_request", "time_budget"))


def is_idle(tx: ReadTx, stream: StreamId) -> bool:
    """No live job but housekeeping, nothing to react to or to vote on, and neither mail nor a request for anybody but
    people."""
    if any(job.kind not in HOUSEKEEPING for job in jobs.live(tx, stream)) or feed.has_news(tx, stream):
        return False
    if proposals.has_open(tx, stream) or any(not one.is_for_person for one in requests.open_of(tx, stream)):
        return False
    people = {agent.id for agent in agents.members(tx, stream) if agent.backend == "human"}
    counts = mailbox.counts(tx, stream)
    return all(count.unread == 0 for agent, count in counts.items() if agent not in people)
