"""The scene of an attempt: all that its prompt is made from, read in one snapshot after it has begun."""

from moot.bus import messages
from moot.bus.messages import Message
from moot.core.ids import AttemptId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.documents import documents
from moot.documents.documents import Document, Listing
from moot.jobs.jobs import Job
from moot.ledger import operations
from moot.ledger.operations import Operation
from moot.registry import agents, attempts
from moot.registry.agents import Agent
from moot.registry.attempts import Attempt
from moot.runner.begun import Begun
from moot.tools import isolation
from moot.workspaces.errors import NeedsMissing

RECENT = 50


@record
class Before:
    """The attempt before this one at the same mail, and what it did."""

    attempt: Attempt
    operations: tuple[Operation, ...]


@record
class Scene:
    recent: tuple[Message, ...]
    entry: Document
    others: tuple[Listing, ...]
    members: tuple[Agent, ...]
    before: Before | None
    limit: str  # that was reached, if this is the last attempt
    is_last_of_run: bool  # and of everybody
    trouble: str = ""  # with the worktree of what it has in hand


def look(tx: ReadTx, begun: Begun) -> Scene:
    agent = begun.agent
    entry = documents.read(tx, agent.instance)
    return Scene(
        recent=tuple(messages.latest(tx, agent.stream, RECENT)),
        entry=entry,
        others=tuple(one for one in documents.all_of(tx, agent.instance) if one.file != entry.file),
        members=tuple(agents.members(tx, agent.stream)),
        before=_before(tx, begun.job, begun.attempt),
        limit=begun.leave.reason,
        is_last_of_run=begun.leave.is_last,
        trouble=_trouble(tx, begun),
    )


def _trouble(tx: ReadTx, begun: Begun) -> str:
    task = isolation.in_hand(tx, begun.agent, begun.caller.token or "")
    where = isolation.own(tx, begun.agent) if task is None else isolation.where(tx, task)
    error = None if where is None else where.error
    if where is None or error is None or not (task or isinstance(error, NeedsMissing)):
        return ""
    return f"The worktree on {where.branch}: {error}"


def _before(tx: ReadTx, job: Job, attempt: AttemptId) -> Before | None:
    earlier = [one for one in attempts.of_job(tx, job.id) if one.id != attempt]
    last = earlier[-1] if earlier else _broken_off(tx, job)
    return None if last is None else Before(last, tuple(operations.of_attempt(tx, last.id)))


def _broken_off(tx: ReadTx, job: Job) -> Attempt | None:
    """The attempt that was interrupted so that this one begins, if any."""
    id = job.arguments.get("after")
    return attempts.get(tx, AttemptId(id)) if isinstance(id, str) else None
