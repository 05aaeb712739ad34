"""The broker of a team: everything that was broadcast, and who has been told what."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from moot.core import clock, json
from moot.core.clock import Clock, SystemClock
from moot.core.json import Json
from moot.core.records import record
from moot.session.report import Report

Type = Literal["update", "failure"]


@record
class Broadcast:
    """`id` is the same in every execution; when it came depends on how fast everybody was."""

    member: str
    number: int  # among those of this member
    type: Type
    message: str
    turns: int
    at: str

    @property
    def id(self) -> str:
        """A member fails once, and whatever it may have said before."""
        return f"{self.member}#{self.type if self.type == 'failure' else self.number}"

    def told(self) -> str:
        head: Json = {"type": self.type, "memberId": self.member, "turnCount": self.turns, "timestamp": self.at}
        return f"### From {self.member}\n\n{json.dumps(head)}\n\n{self.message}"


class Speaker(Protocol):
    """A session."""

    @property
    def turns(self) -> int: ...

    @property
    def answered_at(self) -> datetime | None: ...


class Broker:
    """News is told in the order of the team, so that everybody who was told the same was told the same words."""

    def __init__(self, order: Sequence[str], source: Clock | None = None) -> None:
        self._order = {name: place for place, name in enumerate(order)}
        self._clock = source or SystemClock()
        self._all: list[Broadcast] = []
        self._counts = Counter[str]()
        self._read = Counter[str]()  # how many each has looked at
        self._told: dict[str, set[str]] = {}  # in an execution that is repeated now
        self.put_off: Report | None = None  # of a member: then the supervisor does not go on without it

    def publish(self, type: Type, member: str, message: str, session: "Speaker | None") -> None:
        """It is as old as the answer that it stands in, which is the same in every execution."""
        self._counts[member] += 1
        at = session.answered_at if session is not None else None
        turns = session.turns if session is not None else 0
        said_at = clock.to_iso(at or self._clock.now())
        self._all.append(Broadcast(member, self._counts[member], type, message, turns, said_at))

    def news(self, member: str) -> list[Broadcast]:
        """What it has not been told; from now on it has."""
        new, told = self._all[self._read[member] :], self._told.get(member, ())
        self._read[member] = len(self._all)
        found = [one for one in new if one.member != member and one.id not in told]
        return sorted(found, key=lambda one: (self._order.get(one.member, -1), one.number))

    def was_told(self, member: str, ids: Sequence[str]) -> None:
        self._told.setdefault(member, set()).update(ids)
