"""What a visitor asks for, as it came: the arguments of one request, read into the types that are wanted."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar, cast

from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.records import record
from moot.registry.visits import Visit

T = TypeVar("T", bound=str)


@record
class Ask:
    """One request to a resource. A query has texts only; a body may have anything."""

    visit: Visit
    instance: InstanceName
    place: Mapping[str, str]  # what the path says
    given: Mapping[str, Json]

    def text(self, name: str, *, most: int = 1000) -> str | None:
        """None, if it is not there."""
        found = self.given.get(name)
        if found is None:
            return None
        if not isinstance(found, str):
            raise _wrong(name, "a text")
        if len(found) > most:
            raise InvalidInput(f"{name} is longer than {most} characters.", "Make it shorter.")
        return found

    def needed(self, name: str, *, most: int = 1000) -> str:
        found = self.text(name, most=most)
        if found is None:
            raise InvalidInput(f"{name} is missing.", "Send it.")
        return found

    def number(self, name: str, *, least: int = 0, most: int = (1 << 63) - 1) -> int | None:
        found = self.given.get(name)
        if found is None:
            return None
        number = int(found) if isinstance(found, str) and found.isascii() and found.isdigit() else found
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise _wrong(name, f"a whole number from {least} to {most}")
        return number

    def needed_number(self, name: str) -> int:
        found = self.number(name)
        if found is None:
            raise InvalidInput(f"{name} is missing.", "Send it.")
        return found

    def limit(self, default: int, most: int) -> int:
        return self.number("limit", least=1, most=most) or default

    def flag(self, name: str) -> bool:
        found = self.given.get(name, False)
        if found in ("true", "false"):
            return found == "true"
        if not isinstance(found, bool):
            raise _wrong(name, "true or false")
        return found

    def choice(self, name: str, options: Sequence[T]) -> T | None:
        found = self.text(name)
        if found is None:
            return None
        meant = [one for one in options if one == found]
        if not meant:
            raise _wrong(name, " or ".join(options))
        return meant[0]

    def needed_choice(self, name: str, options: Sequence[T]) -> T:
        found = self.choice(name, options)
        if found is None:
            raise InvalidInput(f"{name} is missing.", f"Send {' or '.join(options)}.")
        return found

    def texts(self, name: str, *, most: int = 100) -> tuple[str, ...]:
        """Of a query, what is between the commas."""
        found = self.given.get(name)
        if isinstance(found, str):
            found = [one for one in found.split(",") if one]
        if found is None:
            return ()
        if not isinstance(found, list):
            raise _wrong(name, "a list of texts")
        every = cast(list[Json], found)
        texts = tuple(one for one in every if isinstance(one, str))
        if len(texts) != len(every) or len(texts) > most:
            raise _wrong(name, f"a list of at most {most} texts")
        return texts

    def moment(self, name: str) -> datetime | None:
        """A date, or a date with a time; of one without a zone it is that of UTC."""
        found = self.text(name, most=40)
        if found is None:
            return None
        try:
            moment = datetime.fromisoformat(found)
        except ValueError:
            raise _wrong(name, "a time such as 2026-01-31T09:30:00Z") from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _wrong(name: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"{name} is not {wanted}.", "Send such a value.")
