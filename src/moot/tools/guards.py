"""Guards against endless talk: how long a chain of agents has become, and how long two have been talking in turn.

At a limit a message is posted and waits with those it is for, but wakes nobody but a person; a job sees to the rest.
Whoever takes it up has the last attempt, or a person has decided to go on: the count starts anew.
"""

from collections.abc import Sequence

from moot.bus import messages
from moot.core.ids import AgentId, AttemptId, MessageId
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import budgets
from moot.ledger.budgets import Guards
from moot.registry import attempts, runs
from moot.registry.agents import Addressee, Agent
from moot.registry.instances import Instance
from moot.workflow.workflow import Limits

LIMIT = "limit"  # the kind of job that tells of a limit
_OTHERWISE = Guards(Limits().hops, Limits().ping_pong)  # while no run is live


@record
class Source:
    """Who speaks, in which attempt, in answer to what."""

    speaker: Agent | None
    attempt: AttemptId | None
    reply_to: MessageId | None

    @property
    def is_agent(self) -> bool:
        return self.speaker is not None and self.speaker.backend != "human"


@record
class Trail:
    """What led to a message; `held` says why it wakes nobody."""

    hops: int = 0
    rally: int = 0
    partner: AgentId | None = None
    held: str = ""


def follow(tx: Tx, instance: Instance, source: Source, reached: Sequence[Addressee]) -> Trail:
    """The trail of a message that is about to be posted."""
    hops = _hops(tx, instance, source)
    trail = _rally(tx, instance, source, hops, reached)
    if (hops == 0 and trail.rally == 0) or not any(is_woken(one) for one in reached):
        return trail
    run = runs.live_id(tx, instance.name)
    limits = (budgets.guards(tx, run) if run else None) or _OTHERWISE
    if limits.hops is not None and hops >= limits.hops:
        return Trail(held=f"hops: {limits.hops} messages in one chain")
    if limits.ping_pong is not None and trail.rally >= limits.ping_pong:
        assert source.speaker is not None
        partner = next(one.name for one in reached if one.id == trail.partner)
        pair = f"{source.speaker.name} and {partner}"
        return Trail(held=f"ping-pong: {pair} have sent each other {limits.ping_pong} messages in turn")
    return trail


def is_woken(one: Addressee) -> bool:
    """Whether mail makes it do something."""
    return one.backend not in ("human", "service")


def _hops(tx: Tx, instance: Instance, source: Source) -> int:
    """One more than what its speaker was given; a person's words, and moot's own, start anew."""
    if source.attempt is not None:
        return attempts.hops(tx, source.attempt) + 1
    if not source.is_agent:
        return 0
    return 1 + (messages.get(tx, source.reply_to, instance.stream).hops if source.reply_to else 0)


def _rally(tx: Tx, instance: Instance, source: Source, hops: int, reached: Sequence[Addressee]) -> Trail:
    """How often two have spoken to each other in turn; what one says in several messages counts once."""
    if source.speaker is None or not source.is_agent:
        return Trail(hops)
    # The next number would lock it anyway: nobody speaks between this look and the message.
    tx.lock("streams", instance.stream)
    last = messages.last_word(tx, instance.stream)
    if last is None or last.rally == 0 or last.sender_id is None:
        return Trail(hops, 1)
    if last.sender_id == source.speaker.id:
        return Trail(hops, last.rally, last.partner)
    if last.sender_id not in {one.id for one in reached}:
        return Trail(hops, 1)
    is_in_turn = last.partner in (None, source.speaker.id)
    return Trail(hops, last.rally + 1 if is_in_turn else 2, last.sender_id)
