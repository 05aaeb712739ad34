"""Who is meant when a message names nobody."""

from dataclasses import replace

from moot.bus import mentions, messages
from moot.core.ids import MessageId
from moot.core.tx import ReadTx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.registry.errors import AgentNotFound
from moot.registry.instances import Instance
from moot.tools.talk import Words


def complete(tx: ReadTx, instance: Instance, speaker: Agent, words: Words) -> Words:
    """The same words with their addressee. An answer goes to whom it answers; an agent may speak to nobody."""
    if words.to or words.kind == "broadcast" or mentions.names(words.body):
        return words
    if words.reply_to is not None:
        return replace(words, to=_answered(tx, instance, speaker, words.reply_to))
    if speaker.backend != "human":
        return words
    return replace(words, to=(_meant(tx, instance).name,))


def _answered(tx: ReadTx, instance: Instance, speaker: Agent, id: MessageId) -> tuple[str, ...]:
    """Who said it; of one's own message, who heard it."""
    original = messages.get(tx, id, instance.stream)
    wanted = original.mentions if original.sender == speaker.name else (original.sender,)
    return tuple(name for name in wanted if name != speaker.name and agents.find(tx, instance.stream, name))


def _meant(tx: ReadTx, instance: Instance) -> Agent:
    """The only agent that is here, else the newest that stands alone, else the only one there is."""
    known = [one for one in agents.members(tx, instance.stream) if one.backend not in ("human", "service")]
    here = [one for one in known if one.presence(tx.now) != "offline"]
    if len(here) == 1:
        return here[0]
    alone = [one for one in here if not one.metadata.get("source")]
    if alone:
        return alone[-1]
    if len(known) == 1:
        return known[0]
    names = ", ".join(sorted(one.name for one in known)) or "nobody yet (start agents with moot serve --agents FILE)"
    raise AgentNotFound("It is not clear who should hear this.", f"Use --to or @name. Here are: {names}.")
