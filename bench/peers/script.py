"""The four scenarios, as everybody plays them. Plain data, for programs that know nothing of moot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Scenario = Literal["tools", "chain", "advisors", "chat"]

TOOL = "look"
ARGUMENTS: Mapping[str, str] = {"place": "tests/parser/test_lines.py"}
FOUND = "def test_the_last_line_counts: the parser drops the last line of a file without a newline; see line 41"
PROMPT = "The parser drops the last line of a file without a newline. Find out why, and say what to do about it."
SAID = "The reader splits at newlines and forgets what follows the last of them; keep the rest when the file ends."

MEMBERS = ("ann", "bob", "cat", "dan")
BOSS = "eve"
CHATTERS = (*MEMBERS, BOSS)
CYCLES = 20
STAGES = tuple(f"stage{number}" for number in range(1, 5))
ADVISORS = tuple(f"advisor{number}" for number in range(1, 9))
ALONE = "solo"


@dataclass(frozen=True, slots=True)
class Play:
    """One scenario."""

    name: Scenario
    words: str
    turns: int  # requests to models
    repeats: int  # in one measurement, so that it takes long enough to be measured


TOOL_TURNS = 20
PLAYS: Mapping[Scenario, Play] = {
    "tools": Play("tools", "20 tool turns", TOOL_TURNS + 1, 4),
    "chain": Play("chain", "chain of 4", len(STAGES), 16),
    "advisors": Play("advisors", "8 advisors", len(ADVISORS) + 1, 8),
    "chat": Play("chat", "5 agents, 100 messages", CYCLES * len(CHATTERS), 1),
}
