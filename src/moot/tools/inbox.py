"""The inbox: what waits for an agent. Checking never acknowledges."""

from typing import Annotated

from pydantic import Field

from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.core.ids import MessageId
from moot.core.tool import EVERYONE, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import attempts
from moot.tools import acting
from moot.tools.channel import moment_of
from moot.tools.shapes import Arguments, Id, InboxEntry, Limit, Reference, Result, entry_of, listed

WAIT = Field(ge=0, le=50, description="Wait up to this long for mail if there is none.")


class Check(Arguments):
    wait_seconds: Annotated[float, WAIT] = 0
    limit: Annotated[Limit, Field(description="At most N, the oldest first.")] = 50
    agent_id: Annotated[Id | None, Field(description="Only for operators: an agent you registered.")] = None


class Ack(Arguments):
    until: Annotated[Reference, Field(description="Timestamp, id or seq of the last message you are done with.")]
    agent_id: Annotated[Id | None, Field(description="Only for operators: an agent you registered.")] = None


class Inbox(Result):
    messages: tuple[InboxEntry, ...]


class Acknowledged(Result):
    status: str = "acknowledged"
    acknowledged: int


async def check(call: Call, arguments: Check) -> Inbox:
    """What waits, marked as handed out: an attempt that saw it has it acknowledged when it succeeds."""

    def unread(tx: ReadTx) -> list[Mail] | None:
        agent = acting.known_agent_for(tx, call.caller, arguments.agent_id)
        return (mailbox.unread(tx, agent.id, arguments.limit) or None) if agent else None

    def show(tx: Tx) -> Inbox:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        shown = mailbox.show(tx, agent.id, call.caller.attempt, arguments.limit)
        if call.caller.attempt is not None:
            attempts.led_by(tx, call.caller.attempt, max((mail.hops for mail in shown), default=0))
        return inbox_of(shown)

    found = await call.wait(unread, arguments.wait_seconds) or []
    if any(mail.state == "queued" for mail in found):
        return await call.write(show)
    return inbox_of(found)


async def ack(call: Call, arguments: Ack) -> Acknowledged:
    def change(tx: Tx) -> Acknowledged:
        agent = acting.agent_for(tx, call.caller, arguments.agent_id)
        moment = moment_of(arguments.until) if isinstance(arguments.until, str) else None
        if moment is not None:
            return Acknowledged(acknowledged=mailbox.ack_until(tx, agent.id, moment))
        named = arguments.until if isinstance(arguments.until, int) else MessageId(arguments.until)
        return Acknowledged(acknowledged=mailbox.ack_named(tx, agent.id, named))

    return await call.write(change)


def inbox_of(mail: list[Mail]) -> Inbox:
    return Inbox(
        messages=tuple(
            InboxEntry(entry=entry_of(one), unread=one.state != "acked", priority=one.priority) for one in mail
        )
    )


TOOLS = (
    Tool(
        name="inbox_check",
        group="inbox",
        words="See what waits for you. It stays unread until you acknowledge it or your run succeeds.",
        effect="store",
        arguments=Check,
        result=Inbox,
        function=check,
        text=lambda result: listed(result.messages),
        waits=True,
        tells_mail=False,
        roles=EVERYONE,
        is_fresh=True,
    ),
    Tool(
        name="inbox_ack",
        group="inbox",
        words="Mark messages as done, up to and including the one you name.",
        effect="store",
        arguments=Ack,
        result=Acknowledged,
        function=ack,
        text=lambda result: "acknowledged",
        roles=EVERYONE,
    ),
)
