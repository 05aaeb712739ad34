"""What is on the terminal: the conversation above, the view below, and the line that is being typed."""

import asyncio
import contextlib
import sys

from moot.bus.messages import Message
from moot.cli import below, terminal
from moot.cli.live.attention import Attention
from moot.cli.live.editor import Editor, Line
from moot.cli.live.glance import Glance
from moot.cli.live.taking_part import Entered
from moot.cli.live.view import View
from moot.cli.transcript import Transcript
from moot.core.ids import MessageId

_TURN_SECONDS = 0.1  # while somebody works
_TICK_SECONDS = 1.0  # while only the time of a run goes on
_LINES = 60  # of one message
_EMPTY = "\x1b[H\x1b[2J"  # the screen; what has left it stays


class Stage:
    def __init__(self, *, is_typed: bool) -> None:
        self.is_left = asyncio.Event()
        self.entered: asyncio.Queue[Entered] = asyncio.Queue()
        self.attention = Attention()
        self._is_typed = is_typed
        self._view, self._editor, self._transcript = View(), Editor(), Transcript(most=_LINES)
        self._told = set[MessageId]()
        self._glance: Glance | None = None
        self._is_stale = asyncio.Event()

    def tell(self, message: Message) -> None:
        """One message more above the view."""
        self._transcript.message(message)
        self._told.add(message.id)
        self.changed()

    def aside(self, text: str) -> None:
        self._transcript.aside(text)
        self.changed()

    def see(self, glance: Glance) -> None:
        self._glance = glance
        self.changed()

    def changed(self) -> None:
        self._is_stale.set()

    def heard(self, typed: str) -> None:
        """Keys; none at the end of the input."""
        if not typed:
            self.is_left.set()
        for one in self._editor.feed(typed):
            match one:
                case Line():
                    self._enter(one.text)
                case "next":
                    self.attention.turn()
                case "redraw":
                    below.take_away()
                    sys.stdout.write(_EMPTY)
                case "end":
                    self.is_left.set()
        self.attention.hold(is_held=bool(self._editor.text))
        self.changed()

    def _enter(self, text: str) -> None:
        entered = Entered(text, self.attention.current)
        if entered.need is not None and entered.is_for_need:
            self.attention.done(entered.need)
        self.entered.put_nowait(entered)

    async def keep_drawn(self) -> None:
        """Whenever something has changed, and with the time where that is shown."""
        while True:
            self._is_stale.clear()
            self._draw()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pace()):
                    await self._is_stale.wait()

    def _pace(self) -> float | None:
        if self._glance is None or not (self._glance.is_moving or self._glance.is_live):
            return None
        return _TURN_SECONDS if self._glance.is_moving else _TICK_SECONDS

    def _draw(self) -> None:
        terminal.flush()
        if self._glance is None:
            return
        needs, size = self._glance.needs, below.size()
        told = [one for one in needs.mail if one.id in self._told]
        self.attention.see((*needs.requests, *needs.votes, *told), earlier=len(needs.mail) - len(told))
        lines = self._view.lines(self._glance, self.attention, size)
        if not self._is_typed:
            below.show(lines)
            return
        typed, column = self._view.typed(self._editor, self.attention, size.columns)
        below.show([*lines, typed], column)
