"""What a person enters below the view: an answer to what they were shown, or something to say."""

from moot.api.connection import Connection
from moot.api.needs import Need
from moot.bus.mailbox import Mail
from moot.cli import keyboard, terminal
from moot.cli.keyboard import Orders
from moot.core.errors import MootError
from moot.core.records import record
from moot.requests.requests import Request


@record
class Entered:
    text: str
    need: Need | None  # that stood there when the line was begun

    @property
    def is_for_need(self) -> bool:
        """Unless the line itself says to whom."""
        return self.need is not None and not self.text.lstrip().startswith("@")


async def take_part(connection: Connection, one: Entered, orders: Orders | None) -> bool:
    """Say it, or answer with it; whether what stood there is dealt with. What came of it is told above the view."""
    try:
        if one.text.startswith("/") and orders is not None:
            terminal.note(await orders(connection, one.text))
        elif one.need is not None and one.is_for_need:
            return await _answer(connection, one.need, one.text)
        elif one.text.strip():
            await keyboard.say(connection, one.text)
    except MootError as error:
        terminal.note(f"{error.code}: {error}")
    return False


async def _answer(connection: Connection, need: Need, text: str) -> bool:
    if text.strip() or (isinstance(need, Request) and need.may_be_empty):
        await keyboard.answer(connection, need, text)
    elif isinstance(need, Mail):
        await connection.acknowledge([need])
    else:
        return False
    return True
