"""Tallies: what votes come to, as arithmetic without a store. Options are in the order they are listed, votes in the
order they were cast."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, assert_never

from moot.core import json

Rule = Literal["plurality", "majority", "unanimous"]
TieBreaker = Literal["first", "random", "creator-decides"]


def counts(options: Iterable[str], votes: Iterable[str]) -> dict[str, int]:
    """How many votes each option has, those without any included."""
    found = Counter(votes)
    return {option: found[option] for option in options}


def leaders(options: Iterable[str], votes: Sequence[str], rule: Rule) -> tuple[str, ...]:
    """The options that the rule is satisfied with: one has won, several are tied, none means that nobody has won."""
    counted = counts(options, votes)
    most = max(counted.values(), default=0)
    if most == 0:
        return ()
    first = tuple(option for option, count in counted.items() if count == most)
    match rule:
        case "plurality":
            return first
        case "majority":
            return first if 2 * most > len(votes) else ()
        case "unanimous":
            return first if most == len(votes) else ()
        case _:
            assert_never(rule)


def drawn(tied: Sequence[str], seed: str) -> str:
    """One of them by lot; the same seed draws the same, so that anybody can check."""
    digest = hashlib.sha256(f"{seed}:{json.dumps(tied)}".encode()).digest()
    return tied[int.from_bytes(digest) % len(tied)]


def assigned(votes: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Who gets which task: of those who chose the same, the first. Votes are voter and option."""
    found: dict[str, str] = {}
    for voter, option in votes:
        found.setdefault(option, voter)
    return found
