"""Open questions: what somebody was asked, or told is in the way, and has not answered yet."""

from moot.bus import messages
from moot.bus.messages import Message
from moot.core.tx import ReadTx
from moot.registry.agents import Agent

ANSWERABLE = ("question", "blocker")
_MOST = 100  # messages that are looked at


def asked_of(tx: ReadTx, agent: Agent, since: int = 0) -> list[Message]:
    """Acknowledged or not: who has read a question has not answered it yet. The same words of the same one are one
    question, asked last when they were said last: an attempt that is repeated says them again."""
    heard = messages.latest_with(tx, agent.stream, agent.name, agent.id, _MOST)
    asked = [one for one in heard if one.kind in ANSWERABLE and one.sender != agent.name and one.seq > since]
    last = {(one.sender, one.body): one for one in asked}
    return [one for one in last.values() if not _is_answered(tx, agent, one)]


def _is_answered(tx: ReadTx, agent: Agent, asked: Message) -> bool:
    thread = messages.of_thread(tx, asked.thread, _MOST)
    return any(one.reply_to == asked.id and one.sender == agent.name for one in thread)
