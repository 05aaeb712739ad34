"""Saying something: who is meant is looked up, the message posted and their mailboxes filled, in one transaction."""

from dataclasses import field

from moot.bus import evidence as evidences
from moot.bus import mentions, messages
from moot.bus.evidence import Evidence
from moot.bus.messages import Draft, Kind, Message, Recipient
from moot.core.ids import AttemptId, MessageId
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.registry import agents, names
from moot.registry.agents import Addressee, Agent
from moot.registry.instances import Instance
from moot.tools import guards
from moot.tools.guards import Source

EVERYONE = frozenset(("all", "everyone"))


@record
class Words:
    """What is said, and to whom beyond the mentions in it.

    Mentions are found here, before any transaction: a long text takes its time. They are looked for in `spoken`, where
    that is given: the body without what is only quoted in it.
    """

    body: str
    to: tuple[str, ...] = ()
    kind: Kind = "message"
    reply_to: MessageId | None = None
    task_id: str | None = None
    attempt: AttemptId | None = None
    spoken: str | None = None
    is_quiet: bool = False  # those it is for find it when they look, and are not woken
    is_relayed: bool = False  # moot says it in somebody's name: that is no turn of theirs in a talk
    evidence: Evidence = evidences.NONE
    mentioned: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mentioned", tuple(mentions.names(self.own)))

    @property
    def own(self) -> str:
        """The speaker's own part of the body."""
        return self.body if self.spoken is None else self.spoken


@record
class Said:
    """A posted message, whom it reached, and mentioned names that nobody has."""

    message: Message
    recipients: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def told(self) -> str:
        """What a person is told who has said it."""
        return f"sent to {', '.join(self.recipients)}" if self.recipients else "sent; nobody was addressed"


def say(tx: Tx, instance: Instance, speaker: Agent | None, words: Words) -> Said:
    """Post it to the instance's channel; `None` speaks as moot itself."""
    sender = speaker.name if speaker else "system"
    found = _look_up(tx, instance, (*words.mentioned, *words.to))
    for name in words.to:
        if names.fold(name) not in found:
            agents.named(tx, instance.stream, name)  # raises, and says who is here
    is_calling_all = not found.keys().isdisjoint(EVERYONE)
    called = [one for one in found.values() if one is not None]
    if is_calling_all or words.kind == "broadcast":
        everyone = {one.id: one for one in (*called, *agents.addressees(tx, instance.stream))}
        reached = list(everyone.values())
    else:
        reached = called
    others = [one for one in reached if one.name != sender]
    source = Source(None if words.is_relayed else speaker, words.attempt or tx.caller.attempt, words.reply_to)
    trail = guards.follow(tx, instance, source, others)
    recipients = [
        Recipient(one.id, one.name, one.is_service, bool(trail.held) and guards.is_woken(one), words.is_quiet)
        for one in others
    ]
    draft = Draft(
        stream=instance.stream,
        sender=sender,
        sender_id=speaker.id if speaker else None,
        body=evidences.told(words.body, words.evidence),
        kind=words.kind,
        mentions=tuple(one.name for one in reached),
        priority=mentions.priority(words.own, len(reached) if is_calling_all else len(called)),
        reply_to=words.reply_to,
        task_id=words.task_id,
        attempt=words.attempt,
        hops=trail.hops,
        rally=trail.rally,
        partner=trail.partner,
    )
    message = messages.post(tx, draft, recipients)
    if trail.held:
        facts = {"instance": instance.name, "reason": trail.held, "seq": message.seq}
        jobs.add(tx, NewJob(f"limit:{message.id}", guards.LIMIT, instance.stream, message.id, facts))
    unknown = tuple(name for name in words.mentioned if names.fold(name) not in found)
    return Said(message, tuple(recipient.name for recipient in recipients), unknown)


def _look_up(tx: Tx, instance: Instance, wanted: tuple[str, ...]) -> dict[str, Addressee | None]:
    """Who has these names, by folded name; None stands for the words that mean everyone. One look a name: a channel
    may have very many members."""
    found: dict[str, Addressee | None] = {}
    for folded in dict.fromkeys(names.fold(name) for name in wanted):
        if folded in EVERYONE:
            found[folded] = None
        elif folded in names.SERVICES:
            found[folded] = agents.service(tx, instance, folded).addressee
        elif folded == agents.PERSON:
            found[folded] = agents.person(tx, instance).addressee
        elif (addressee := agents.addressee(tx, instance.stream, folded)) is not None:
            found[folded] = addressee
    return found
