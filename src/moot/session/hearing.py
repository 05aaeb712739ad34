"""Words that come for a session while it runs."""

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from moot.core.json import Json
from moot.core.records import record


@record
class Heard:
    """`facts` tell what it was, so that it is not told a second time."""

    text: str
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def plain(self) -> dict[str, Json]:
        return {**self.facts, "text": self.text}

    @staticmethod
    def of(plain: Mapping[str, Json]) -> "Heard":
        return Heard(str(plain["text"]), {name: one for name, one in plain.items() if name != "text"})


class Hearing(Protocol):
    @property
    def calls_back(self) -> bool:
        """Whether a session that is done goes on when something has come."""
        ...

    def begin(self) -> None:
        """Listen from now on."""
        ...

    def take(self) -> Heard | None:
        """What has come since."""
        ...

    async def stop(self) -> Heard | None:
        """Listen no more. Something may have come in this very moment."""
        ...

    def was_told(self, facts: Mapping[str, Json]) -> None:
        """This was told before, in an execution that is repeated now."""
        ...


class Deaf:
    """Nothing ever comes."""

    calls_back = False

    def begin(self) -> None: ...

    def take(self) -> Heard | None:
        return None

    async def stop(self) -> Heard | None:
        return None

    def was_told(self, facts: Mapping[str, Json]) -> None: ...
