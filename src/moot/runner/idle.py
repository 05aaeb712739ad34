"""Whether anything is left to do in a stream, as one snapshot."""

from moot.bus import mailbox
from moot.core.ids import StreamId
from moot.core.tx import ReadTx
from moot.engine.flow import flows, inbox
from moot.engine.flow.flows import Flow
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.proposals import proposals
from moot.registry import agents
from moot.registry.agents import Agent
from moot.requests import requests
from moot.runner import limits
from moot.runner.reactions.notify_people import NOTIFY
from moot.store import feed
from moot.tools import advancing, asking, lapsing, voting

# Jobs that only watch the time: what they wait for is looked at itself.
HOUSEKEEPING = frozenset((voting.EXPIRE, asking.EXPIRE, limits.TIME, lapsing.LAPSE))


def is_idle(tx: ReadTx, stream: StreamId) -> bool:
    """No live job but housekeeping, nothing to react to or to vote on, and neither mail nor a request for anybody but
    people and those who are stopped."""
    if any(_is_work(job) for job in jobs.live(tx, stream)) or feed.has_news(tx, stream):
        return False
    if any(_is_moving(tx, flow) for flow in flows.live(tx, stream)):
        return False
    if proposals.has_open(tx, stream) or any(not one.is_for_person for one in requests.open_of(tx, stream)):
        return False
    members = agents.members(tx, stream)
    others = {agent.id for agent in members if agent.backend == "human" or _is_stopped(agent)}
    counts = mailbox.counts(tx, stream)
    return all(count.unread == 0 for agent, count in counts.items() if agent not in others)


def _is_work(job: Job) -> bool:
    """People are being told once the command for that runs: nobody waits for its end. Whether a flow goes on, itself
    says."""
    is_watching = job.kind in (NOTIFY, advancing.ADVANCE) and job.state == "running"
    return job.kind not in HOUSEKEEPING and not is_watching


def _is_moving(tx: ReadTx, flow: Flow) -> bool:
    """Whether steps go on by themselves, or one at a time as somebody lets them; those that an agent asks for are its
    own affair."""
    if flow.driver == "agent":
        return False
    return flow.waits_for in ("", "time", "credit") or not inbox.is_empty(tx, flow.id)


def _is_stopped(agent: Agent) -> bool:
    """Whether its mail waits for another run; who comes from outside may come back at any time."""
    return agent.is_started_by_moot and agent.stopped_at is not None
