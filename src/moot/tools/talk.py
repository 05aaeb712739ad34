"""Saying something: who is meant is looked up, the message posted and their mailboxes filled, in one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass

from moot.bus import mentions, messages
from moot.bus.messages import Draft, Kind, Message, Recipient
from moot.core.ids import AttemptId, MessageId
from moot.core.tx import Tx
from moot.registry import agents, names
from moot.registry.agents import Agent
from moot.registry.instances import Instance

EVERYONE = frozenset(("all", "everyone"))


@dataclass(frozen=True, slots=True)
class Words:
    """What is said, and to whom beyond the mentions in it."""

    body: str
    to: tuple[str, ...] = ()
    kind: Kind = "message"
    reply_to: MessageId | None = None
    task_id: str | None = None
    attempt: AttemptId | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A posted message, whom it reached, and mentioned names that nobody has."""

    message: Message
    recipients: tuple[str, ...]
    unknown: tuple[str, ...]


def say(tx: Tx, instance: Instance, speaker: Agent | None, words: Words) -> Said:
    """Post it to the instance's channel; `None` speaks as moot itself."""
    sender = speaker.name if speaker else "system"
    members = {names.fold(agent.name): agent for agent in agents.members(tx, instance.stream)}
    mentioned = mentions.names(words.body)
    wanted = {names.fold(name) for name in (*mentioned, *words.to)}
    if agents.PERSON in wanted and agents.PERSON not in members:
        members[agents.PERSON] = agents.person(tx, instance)
    for name in words.to:
        _must_be_known(tx, instance, name, members)
    is_calling_all = bool(wanted & EVERYONE)
    reached = _reached(tx, instance, wanted, is_calling_all or words.kind == "broadcast", members)
    called = [agent for agent in reached if is_calling_all or names.fold(agent.name) in wanted]
    recipients = [_recipient(agent) for agent in reached if agent.name != sender]
    draft = Draft(
        stream=instance.stream,
        sender=sender,
        sender_id=speaker.id if speaker else None,
        body=words.body,
        kind=words.kind,
        mentions=tuple(agent.name for agent in reached),
        priority=mentions.priority(words.body, len(called)),
        reply_to=words.reply_to,
        task_id=words.task_id,
        attempt=words.attempt,
    )
    unknown = tuple(name for name in mentioned if not _is_known(name, members))
    message = messages.post(tx, draft, recipients)
    return Said(message, tuple(recipient.name for recipient in recipients), unknown)


def _reached(
    tx: Tx, instance: Instance, wanted: Iterable[str], is_for_all: bool, members: dict[str, Agent]
) -> list[Agent]:
    services = [agents.service(tx, instance, name) for name in sorted(wanted) if name in names.SERVICES]
    if is_for_all:
        return [agent for agent in members.values() if agent.backend != "service"] + services
    named = [agent for folded, agent in members.items() if folded in set(wanted) and agent.backend != "service"]
    return named + services


def _recipient(agent: Agent) -> Recipient:
    return Recipient(agent.id, agent.name, is_service=agent.backend == "service")


def _must_be_known(tx: Tx, instance: Instance, name: str, members: dict[str, Agent]) -> None:
    if not _is_known(name, members):
        agents.named(tx, instance.stream, name)


def _is_known(name: str, members: dict[str, Agent]) -> bool:
    folded = names.fold(name)
    return folded in members or folded in names.SERVICES or folded in EVERYONE
