"""Who has brought about what the store tells of: a call that is on the tape, or somebody without tools.

A transaction's events have one actor, numbers without a gap, and times that are one microsecond apart: so it is known
which of them belong together. A call knows its own.
"""

from moot.proposals import votes
from moot.registry import attempts
from moot.requests import requests
from moot.taping.facts import ENDS, JOINED
from moot.taping.flow_lines import Moved
from moot.taping.tape import Call, Happened, Said, Tape

_LEADING = (votes.CAST, requests.ANSWERED, requests.OPENED)  # what else is in their transactions comes with them
_LAST = frozenset((attempts.STARTED, *ENDS))  # of what happens in their transactions
_WITH_LIMIT = frozenset((attempts.STARTED, JOINED))  # what may follow the notice of one
Entry = Happened | Said


class Authors:
    def __init__(self, tape: Tape) -> None:
        transactions = _transactions(tape)
        # The numbers of what calls have brought about.
        self._called = {seq for line in tape.lines if isinstance(line, Call) for seq in line.events}
        self._starts = {one.seq: transaction[0].seq for transaction in transactions for one in transaction}
        self._led = {
            one.seq: leader.seq
            for transaction in transactions
            if (leader := _leader(transaction)) is not None
            for one in transaction
        }

    def is_by_call(self, one: Entry) -> bool:
        return one.seq in self._called

    def is_alone(self, one: Entry) -> bool:
        """Whether somebody did it by itself: it comes neither with a call nor with something else that they did."""
        return not self.is_by_call(one) and self._led.get(one.seq, one.seq) == one.seq

    def start_of(self, one: Entry) -> int:
        """The first number of its transaction."""
        return self._starts[one.seq]


def _transactions(tape: Tape) -> list[list[Entry]]:
    found: list[list[Entry]] = []
    told = [line for line in tape.lines if isinstance(line, Happened | Said)]
    moved = {seq: line.id for line in tape.lines if isinstance(line, Moved) for seq in line.events}
    for one in sorted(told, key=lambda one: one.seq):
        if found and moved.get(found[-1][-1].seq) == moved.get(one.seq) and _goes_with(found[-1], one):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _goes_with(transaction: list[Entry], one: Entry) -> bool:
    """What comes behind the last event of a transaction may stand as close to it, if it has waited for that."""
    last = transaction[-1]
    if last.kind in _LAST or (any(_is_of_limit(each) for each in transaction) and one.kind not in _WITH_LIMIT):
        return False
    return (last.seq, last.actor, last.at) == (one.seq - 1, one.actor, one.at - 1)


def _is_of_limit(one: Entry) -> bool:
    return isinstance(one, Said) and one.limit is not None


def _leader(transaction: list[Entry]) -> Happened | None:
    """What somebody has done, where more came of it."""
    found = [one for one in transaction if isinstance(one, Happened)]
    leading = [one for one in found if one.kind in _LEADING] or [one for one in found if one.kind == votes.CLOSED]
    return leading[0] if leading else None
