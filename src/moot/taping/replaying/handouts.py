"""Handouts: which mail each agent was handed when, and before which letter that must have been.

On PostgreSQL several write at once. Who hands out mail has seen what was committed by then; what it writes itself gets
its number later, behind letters that it could not see. Letters are committed in the order of their numbers: the first
that was handed out later, or never, tells how early it was.
"""

import re
from collections.abc import Mapping, Sequence

from moot.taping.tape import Begin, Call, Line, More, Said

INBOX = "inbox_check"
_LETTER = re.compile(r'"id": ?"(ms_[0-9a-z]{20})"')
_NEVER = 1 << 62


class Handouts:
    def __init__(self, lines: Sequence[Line], said: Sequence[Said], agents: Mapping[str, str]) -> None:
        self._agents = agents
        self._seqs = {one.id: one.seq for one in said}
        first: dict[tuple[str, str], int] = {(name, one.id): _NEVER for one in said for name in one.to}
        for at, line in enumerate(lines):
            for id in self._letters(line):
                known = first.get((self.agent(line), id), _NEVER)
                first[self.agent(line), id] = min(known, at)
        self._first: dict[str, list[tuple[int, int]]] = {}  # by agent: letters and where they were handed out first
        for (name, id), at in first.items():
            self._first.setdefault(name, []).append((self._seqs.get(id, 0), at))

    def first_unseen(self, line: Line, at: int, after: float) -> int | None:
        """The first letter behind `after` that was not among those handed out here or before; None if all were, or
        nothing is handed out."""
        letters = self._letters(line)
        if not letters:
            return None
        least = max([after, *(self._seqs.get(id, 0) for id in letters)])
        found = self._first.get(self.agent(line), ())
        return min((seq for seq, place in found if seq > least and place > at), default=None)

    def _letters(self, line: Line) -> Sequence[str]:
        match line:
            case Begin() | More():
                return [one.id for one in line.mail]
            case Call() if line.tool == INBOX and line.operation is not None:
                return _LETTER.findall(line.text)
            case _:
                return ()

    def agent(self, line: Line) -> str:
        """Who did it, or had it done."""
        if isinstance(line, Begin):
            return line.agent
        return line.caller if isinstance(line, Call) else self._agents.get(getattr(line, "attempt", ""), "")
