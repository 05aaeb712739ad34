"""What a task may be asked for before it counts as done, as it is written in a plan."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import cast

from moot.board.errors import PlanRefused
from moot.core import durations, json, nearest
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record

VOTE = "vote"
TIMEOUT = timedelta(minutes=10)
_KEYS: Mapping[str, frozenset[str]] = {  # the key that says what it is, and those that may stand beside it
    "shell": frozenset(("timeout", "exit_code")),
    "file": frozenset(),
    "schema": frozenset(),
    "approval": frozenset(),
}


@record
class Command:
    """A command that ends as it should, where the task was worked on."""

    line: str
    timeout: timedelta
    exit_code: int


@record
class Existing:
    """A file that is there."""

    path: str


@record
class Fitting:
    """A JSON Schema that the detail of the outcome fits."""

    schema: Mapping[str, Json]


@record
class Approval:
    """Somebody who agrees, by name; or most of those who are here, by a vote."""

    by: str


Evidence = Command | Existing | Fitting | Approval


def spell(wanted: Evidence) -> str:
    """In a few words, for whoever has to see to it."""
    match wanted:
        case Command():
            return f"`{wanted.line}` ends with exit code {wanted.exit_code}"
        case Existing():
            return f"the file {wanted.path} is there"
        case Fitting():
            return f"outcome_detail fits the schema {json.dumps(wanted.schema)}"
        case Approval():
            return "a vote approves it" if wanted.by == VOTE else f"{wanted.by} approves it"


def parse(words: Mapping[str, Json]) -> Evidence:
    """PlanRefused if this is no check."""
    kind = _kind(words)
    value = words[kind]
    if kind == "schema":
        if not isinstance(value, Mapping):
            raise PlanRefused("The schema of a check is no object.", "Write a JSON Schema.")
        return Fitting(cast(Mapping[str, Json], value))
    if not isinstance(value, str) or not value.strip():
        raise PlanRefused(f"The {kind} of a check must be text.", "Write it in one line.")
    match kind:
        case "shell":
            return Command(value, _timeout(words.get("timeout")), _exit_code(words.get("exit_code", 0)))
        case "file":
            return Existing(_path(value))
        case _:
            return Approval(value.removeprefix("@"))


def schemas(checks: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """What is given as a JSON Schema, each once. Whether it is one takes long: it is found out before a transaction."""
    found = [one["schema"] for one in checks if isinstance(one.get("schema"), Mapping)]
    return list({json.dumps(one): cast(Mapping[str, Json], one) for one in found}.values())


def refuse_schema(wrong: str | None) -> None:
    if wrong is not None:
        raise PlanRefused(f"The schema of a check is no JSON Schema: {wrong}.", "See json-schema.org.")


def _kind(words: Mapping[str, Json]) -> str:
    kinds = [key for key in words if key in _KEYS]
    if len(kinds) != 1:
        raise PlanRefused("A check has exactly one of shell, file, schema and approval.", "Write one check for each.")
    strange = sorted(words.keys() - _KEYS[kinds[0]] - {kinds[0]})
    if strange:
        raise PlanRefused(
            f"A check by {kinds[0]} has no {strange[0][:80]!r}.", nearest.hint(strange[0], _KEYS[kinds[0]])
        )
    return kinds[0]


def _timeout(written: Json) -> timedelta:
    if written is None:
        return TIMEOUT
    try:
        return durations.parse(str(written))
    except InvalidInput as error:
        raise PlanRefused(f"The timeout of a check: {error.fact}", error.remedy) from error


def _exit_code(written: Json) -> int:
    if not isinstance(written, int) or isinstance(written, bool) or not 0 <= written <= 255:
        raise PlanRefused("The exit_code of a check is a number from 0 to 255.")
    return written


def _path(written: str) -> str:
    path = PurePosixPath(written)
    if path.is_absolute() or ".." in path.parts:
        raise PlanRefused(f"The file {written[:80]!r} of a check is outside of the project.", "Name one inside of it.")
    return str(path)
