"""The broker of a team: everything that was broadcast, and who has been told what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from moot.core import json
from moot.core.json import Json


@dataclass(frozen=True, slots=True)
class Broadcast:
    """`id` is the same in every execution: its sender, and the how many-eth of its broadcasts it is."""

    id: str
    type: Literal["update", "failure"]
    member: str
    message: str
    turns: int
    at: str

    def told(self) -> str:
        head: Json = {
            "type": self.type,
            "memberId": self.member,
            "turnCount": self.turns,
            "timestamp": self.at,
        }
        return f"### Broadcast from {self.member}\n\n{json.dumps(head)}\n\n{self.message}"


class Broker:
    def __init__(self) -> None:
        self._all: list[Broadcast] = []
        self._told: dict[str, set[str]] = {}

    def publish(self, type: Literal["update", "failure"], member: str, message: str, turns: int, at: str) -> None:
        number = sum(one.member == member for one in self._all) + 1
        self._all.append(Broadcast(f"{member}#{number}", type, member, message, turns, at))

    def count(self, member: str) -> int:
        return sum(one.member == member for one in self._all)

    def news(self, member: str) -> list[Broadcast]:
        """What it has not been told; it counts as told from now on."""
        told = self._told.setdefault(member, set())
        found = [one for one in self._all if one.member != member and one.id not in told]
        told.update(one.id for one in found)
        return found

    def was_told(self, member: str, ids: Sequence[str]) -> None:
        self._told.setdefault(member, set()).update(ids)


def facts(news: Sequence[Broadcast]) -> Mapping[str, Json]:
    return {"broadcasts": [one.id for one in news]}


def ids(found: Mapping[str, Json]) -> list[str]:
    return [str(one) for one in cast(Sequence[Json], found.get("broadcasts") or ())]


def words(news: Sequence[Broadcast]) -> str:
    return "\n\n".join(one.told() for one in news)
