"""Who is meant when a message names nobody."""

from collections.abc import Sequence
from dataclasses import replace

from moot.api import targets
from moot.api.targets import DEFAULT
from moot.bus import mentions, messages
from moot.core.ids import InstanceName, MessageId
from moot.core.tx import ReadTx
from moot.registry import agents, instances, names
from moot.registry.agents import Agent
from moot.registry.errors import AgentNotFound
from moot.registry.instances import Instance
from moot.tools.talk import EVERYONE, Words


def complete(tx: ReadTx, instance: Instance, speaker: Agent, words: Words, *, is_guessed: bool = True) -> Words:
    """The same words with their addressee. An answer goes to whom it answers; an agent may speak to nobody, and so may
    a person for whom nothing is guessed."""
    if words.to or words.kind == "broadcast" or mentions.names(words.body):
        return words
    if words.reply_to is not None:
        return replace(words, to=_answered(tx, instance, speaker, words.reply_to))
    if speaker.backend != "human" or not is_guessed:
        return words
    return replace(words, to=(_meant(tx, agents.members(tx, instance.stream)).name,))


def _answered(tx: ReadTx, instance: Instance, speaker: Agent, id: MessageId) -> tuple[str, ...]:
    """Who said it; of one's own message, who heard it."""
    original = messages.get(tx, id, instance.stream)
    wanted = original.mentions if original.sender == speaker.name else (original.sender,)
    return tuple(name for name in wanted if name != speaker.name and agents.find(tx, instance.stream, name))


def place(tx: ReadTx, words: Words) -> InstanceName:
    """Where a person's words belong who names no instance: with those they name, else with the one who is meant."""
    if words.reply_to is not None:
        return DEFAULT
    known = [one for instance in instances.all_of(tx) for one in agents.members(tx, instance.stream)]
    others = [one for one in known if one.name != agents.PERSON and one.backend != "service"]
    wanted = {names.fold(name) for name in (*words.mentioned, *words.to)}
    if words.kind == "broadcast" or wanted & EVERYONE:
        return _only_place(tx, others)
    if wanted:
        return _only_place(tx, [one for one in others if names.fold(one.name) in wanted])
    return _meant(tx, others).instance


def _only_place(tx: ReadTx, called: Sequence[Agent]) -> InstanceName:
    """Where these are; the default instance goes without saying."""
    places = {one.instance for one in _here(tx, called) or called}
    if not places or DEFAULT in places:
        return DEFAULT
    if len(places) > 1:
        raise unclear(called)
    return places.pop()


def _meant(tx: ReadTx, members: Sequence[Agent]) -> Agent:
    """The only agent that is here, else the newest that stands alone, else the only one there is."""
    known = [one for one in members if one.backend not in ("human", "service")]
    here = _here(tx, known)
    if len(here) == 1:
        return here[0]
    alone = [one for one in here if not one.metadata.get("source")]
    if alone:
        return max(alone, key=lambda one: (one.created_at, one.id))
    if len(known) == 1:
        return known[0]
    raise unclear(here or known)


def _here(tx: ReadTx, members: Sequence[Agent]) -> list[Agent]:
    return [one for one in members if one.presence(tx.now) != "offline"]


def unclear(candidates: Sequence[Agent]) -> AgentNotFound:
    known = sorted(targets.agent_in(one.name, one.instance) for one in candidates)
    listed = ", ".join(known) or "nobody yet (start some with moot run FILE)"
    return AgentNotFound("It is not clear who should hear this.", f"Use --to or @name. Here are: {listed}.")
