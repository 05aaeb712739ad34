"""Who has brought about what the store tells of: a call that is on the tape, or somebody without tools.

A transaction's events have one actor, numbers without a gap, and times that are one microsecond apart: so it is known
which of them belong together. The operation of a call is made in the same transaction, and its id holds the time.
"""

from contextlib import suppress

from moot.core import ids
from moot.proposals import votes
from moot.registry import attempts
from moot.requests import requests
from moot.taping.facts import JOINED
from moot.taping.tape import Call, Happened, Said, Tape

_LATE = 20  # milliseconds: a transaction may have waited for its numbers
_LEADING = (votes.CAST, requests.ANSWERED, requests.OPENED)  # what else is in their transactions comes with them
Entry = Happened | Said


class Authors:
    def __init__(self, tape: Tape) -> None:
        transactions = _transactions(tape)
        self._unclaimed: dict[str, list[list[Entry]]] = {}  # by actor
        for transaction in transactions:
            self._unclaimed.setdefault(transaction[0].actor, []).append(transaction)
        self._first: dict[int, int] = {}  # by the id of a call
        self._called: set[int] = set()  # the numbers of what calls have brought about
        for line in tape.lines:
            if isinstance(line, Call) and line.operation is not None:
                with suppress(ValueError):  # somebody has written into the file
                    self._find(line, ids.milliseconds(line.operation))
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

    def first_event_of(self, call: Call) -> int | None:
        return self._first.get(id(call))

    def _find(self, call: Call, made: int) -> None:
        """The next transaction of its caller, if that is near enough."""
        unclaimed = self._unclaimed.get(call.caller, [])
        for at, transaction in enumerate(unclaimed):
            if 0 <= transaction[0].at // 1000 - made <= _LATE:
                self._first[id(call)] = transaction[0].seq
                self._called |= {one.seq for one in transaction}
                del unclaimed[at]
                return


def _transactions(tape: Tape) -> list[list[Entry]]:
    found: list[list[Entry]] = []
    told = [line for line in tape.lines if isinstance(line, Happened | Said)]
    for one in sorted(told, key=lambda one: one.seq):
        last = found[-1][-1] if found else None
        is_next = last is not None and (last.seq, last.actor) == (one.seq - 1, one.actor)
        if is_next and last is not None and (last.at == one.at - 1 or _is_made_with(last, one)):
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _is_made_with(last: Entry, one: Entry) -> bool:
    """A notice, and what stands behind it though the transaction has waited in between: their ids are of one moment."""
    if not (isinstance(last, Said) and last.kind == "system" and isinstance(one, Happened)):
        return False
    with suppress(ValueError):  # somebody has written into the file
        return one.kind in (JOINED, attempts.STARTED) and ids.milliseconds(last.id) == ids.milliseconds(one.subject)
    return False


def _leader(transaction: list[Entry]) -> Happened | None:
    """What somebody has done, where more came of it."""
    found = [one for one in transaction if isinstance(one, Happened)]
    leading = [one for one in found if one.kind in _LEADING] or [one for one in found if one.kind == votes.CLOSED]
    return leading[0] if leading else None
