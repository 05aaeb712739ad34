"""What stands below the conversation: as much of everything as the terminal has room for, the most urgent first."""

import os
from collections.abc import Sequence

from rich.text import Text

from moot.cli.live import needing, progress, working
from moot.cli.live.attention import Attention
from moot.cli.live.editor import Editor
from moot.cli.live.glance import Glance
from moot.cli.live.paper import Paper, Section, joined, words

_PROMPT = "> "
_TALK = 4  # rows that are left to the conversation, however small the terminal is
_INVITATION = "say something: @name wakes that one · Ctrl-D ends"


class View:
    def __init__(self) -> None:
        self._paper = Paper()

    def lines(self, seen: Glance, attention: Attention, size: os.terminal_size) -> list[str]:
        """Without the one that is typed."""
        columns = size.columns - 1  # in the last one some terminals would break the line
        order = {
            "needs": needing.section(attention, columns),
            "agents": working.section(seen),
            "spending": progress.spending(seen, columns),
            "plans": progress.plans(seen, columns),
            "heading": progress.heading(seen, columns),
            "flows": progress.flows(seen, columns),
            "obstacles": progress.obstacles(seen),
        }
        room = max(1, min(size.lines - _TALK, size.lines * 2 // 3) - 1)
        rows = dict(zip(order, _shared(list(order.values()), room), strict=True))
        shown = ("heading", "needs", "obstacles", "agents", "flows", "plans", "spending")
        return [self._paper.line(line, columns) for name in shown for line in order[name].within(rows[name])]

    def typed(self, editor: Editor, attention: Attention, columns: int) -> tuple[str, int]:
        """The line that is typed, and the column of the cursor."""
        prompt = joined((_PROMPT, "bold"))
        if not editor.text:
            hint = "" if attention.current is not None else _INVITATION
            return self._paper.line(joined(prompt, words(hint, "dim")), columns - 1), len(_PROMPT)
        text, column = editor.window(columns - len(_PROMPT))
        return self._paper.line(joined(prompt, Text(text)), columns - 1), len(_PROMPT) + column


def _shared(sections: Sequence[Section], room: int) -> list[int]:
    """How many rows each gets: first what each needs, then what each would like, both in this order."""
    rows = [0] * len(sections)
    for wished in ([one.least for one in sections], [len(one.lines) for one in sections]):
        for at, wish in enumerate(wished):
            more = max(0, min(wish - rows[at], room))
            rows[at] += more
            room -= more
    return rows
