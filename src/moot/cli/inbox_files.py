"""`moot inbox --mode fs`: what waits for somebody in a team, as its files show it once they are up to date."""

from moot.api import team_mail
from moot.api.connection import Connection
from moot.api.plain import Plain
from moot.cli import terminal
from moot.cli.desk import Desk
from moot.registry.agents import PERSON


async def show(connection: Connection, desk: Desk, *, ack: bool, as_json: bool) -> None:
    from moot.api import distant
    from moot.cli.transcript import Transcript

    post = await team_mail.post(connection, "fs")
    name = desk.agent or (connection.caller.name if connection.caller.agent else desk.person or PERSON)
    asked = {str(one["request_id"]) for one in await post.pending(name)}
    found = [one for one in await post.inbox(name) if _waits(one, desk, is_asked=str(one["request_id"]) in asked)]
    found = found[: desk.limit]
    mail = [distant.mail_of({**one, "mentions": one["to"]}) for one in found]
    if as_json:
        terminal.document(found)
    elif not found:
        terminal.say(f"nothing waits for {name}")
    transcript = Transcript()
    for one, letter in zip(found, mail, strict=True) if not as_json else ():
        transcript.message(letter)
        transcript.aside(f"{one['request_id'] or one['id']}  no. {one['seq']}")
    terminal.flush()  # only what has been read is acknowledged
    if ack:
        await connection.acknowledge(mail)
        await team_mail.post(connection, "fs")


def _waits(one: Plain, desk: Desk, *, is_asked: bool) -> bool:
    if desk.is_pending_only:
        return is_asked
    return not one["read"] or (is_asked and not desk.is_unread_only)
