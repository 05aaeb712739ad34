"""Where something stands in a tree of sessions, the same in every execution: `t3/m`, `t3/c1/s/t1/m`, `adv/risk/q1`.

A session has turns (`t3`), and each of them a request to a model (`m`) and calls (`c1`). Behind a call stands the
session of a sub-agent (`s`); beside the turns stand those of the others whom an agent works with, and how often it was
asked again (`q1`). The path of the first session is empty.
"""

import re
from typing import Literal

Trigger = Literal["root", "subagent", "handoff", "router", "advisor", "member", "supervisor", "clarification", "turn"]
_WORDS: dict[Trigger, str] = {
    "subagent": "s",
    "handoff": "h",
    "router": "r",
    "advisor": "adv",
    "member": "team",
    "supervisor": "boss",
}
_TRIGGERS: dict[str, Trigger] = {word: trigger for trigger, word in _WORDS.items()}
_NAMED = frozenset(("adv", "team"))  # they stand before a name, which may be any word
_NUMBERED = re.compile(r"[tcq]\d+")
_NUMBERS = re.compile(r"(\d+)")


class TreePath(str):
    """A text like any other to whoever writes it down."""

    __slots__ = ()

    def _below(self, part: str) -> "TreePath":
        return TreePath(f"{self}/{part}" if self else part)

    def turn(self, number: int) -> "TreePath":
        """Of a session."""
        return self._below(f"t{number}")

    def asked_again(self, number: int) -> "TreePath":
        """Of a session that has reported."""
        return self._below(f"q{number}")

    def request(self) -> "TreePath":
        """Of a turn."""
        return self._below("m")

    def call(self, number: int) -> "TreePath":
        """Of a turn."""
        return self._below(f"c{number}")

    def branch(self, trigger: Trigger, name: str = "") -> "TreePath":
        """The session of somebody else, who is called from here, asked from here, or goes on from here."""
        word = _WORDS[trigger]
        return self._below(f"{word}/{name}" if word in _NAMED else word)

    @property
    def parts(self) -> list[str]:
        """`team/adv/t1/m` is `team/adv`, `t1`, `m`: a name is no part by itself."""
        words = iter(self.split("/") if self else ())
        return [f"{one}/{next(words, '')}" if one in _NAMED else one for one in words]

    @property
    def all_above(self) -> "list[TreePath]":
        """From the first session on."""
        parts = self.parts
        return [TreePath("/".join(parts[:length])) for length in range(len(parts))]

    @property
    def above(self) -> "TreePath | None":
        """What it belongs to; None for the first session."""
        return self.all_above[-1] if self else None

    def is_below(self, other: str) -> bool:
        """Whether it is part of what has the other path."""
        return self != other and (not other or self.startswith(f"{other}/"))

    @property
    def session(self) -> "TreePath":
        """In which a request or a call is made."""
        return TreePath("/".join(self.split("/")[:-2]))

    @property
    def last(self) -> str:
        return self.parts[-1] if self else ""

    @property
    def kind(self) -> str:
        """Of a turn `t`, of a call `c`, of a session that is asked again `q`; the whole last part of anything else."""
        return self.last[0] if _NUMBERED.fullmatch(self.last) else self.last

    @property
    def number(self) -> int:
        """Of a turn, a call, or a session that is asked again."""
        return int(self.last[1:])

    @property
    def trigger(self) -> Trigger | None:
        """How the session of somebody else came to be."""
        return _TRIGGERS.get(self.last.partition("/")[0])

    @property
    def name(self) -> str:
        """Of an advisor or a member."""
        return self.last.partition("/")[2]

    @property
    def has_last_word(self) -> bool:
        """Whether it is the first session, or that of whom the first has handed over to."""
        return all(one in ("h", "r") for one in self.parts)

    @property
    def in_order(self) -> list[int | str]:
        """To sort by, so that turn 10 comes after turn 9: words and numbers alternate."""
        return [int(one) if at % 2 else one for at, one in enumerate(_NUMBERS.split(self))]


ROOT = TreePath()
