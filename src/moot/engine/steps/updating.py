"""`state_update`: values for places in the state, one or several at once."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import Field, JsonValue

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine.expressions import template
from moot.engine.resolving import expressions, text_of
from moot.engine.shape import StepShape, WriteShape
from moot.engine.state import operations, paths
from moot.engine.state.operations import Operation, Update
from moot.engine.state.paths import Index, Path
from moot.engine.step import Move, Next, Step, Visit


class Said(StepShape):
    path: str | None = Field(default=None, min_length=1, description="raw.NAME or state.NAME, and keys in it")
    value: JsonValue = Field(default=None, description="What to write")
    operation: Operation = Field(default="set", description="set, append, increment or merge")
    updates: list[WriteShape] | None = Field(default=None, min_length=1, description="Several at once")


@record
class Change:
    """A place, in which whatever stands in braces is one key; what to do there; and the value, with its templates."""

    path: tuple[str, ...]
    operation: Operation = "set"
    value: Json = None


@record
class StateUpdate:
    changes: tuple[Change, ...]
    made: tuple[Update, ...] | None = None  # what they come to, if nothing in them is evaluated


def read(said: Said) -> StateUpdate:
    if (said.path is None) == (said.updates is None):
        raise InvalidInput("A state_update has either a path or updates.", "Write path and value, or updates.")
    several = said.updates or [WriteShape(path=said.path or "", value=said.value, operation=said.operation)]
    changes = tuple(change(one) for one in several)
    is_plain = next(expressions([[list(one.path), one.value] for one in changes]), None) is None
    return StateUpdate(changes, tuple(_plain(one) for one in changes) if is_plain else None)


def change(said: WriteShape) -> Change:
    found = keys(said.path)
    if "{{" not in "".join(found[:2]):
        paths.writable(paths.of(found))  # the rest is known when it is taken
    return Change(found, said.operation, operations.meant(said.operation, said.value))


async def take(visit: Visit) -> Move:
    detail: StateUpdate = visit.step.detail
    return Next(await updates(visit, detail.changes) if detail.made is None else detail.made)


async def updates(
    visit: Visit, changes: tuple[Change, ...], own: Mapping[str, Json] | None = None
) -> tuple[Update, ...]:
    """`own` are names that the values may use besides the state, such as `result`."""
    wanted: Json = [{"path": list(one.path), "value": one.value} for one in changes]
    found = cast(list[Mapping[str, Json]], await visit.resolved(wanted, own))
    return tuple(
        Update(place(one.path, cast(list[Json], made["path"])), one.operation, made["value"])
        for one, made in zip(changes, found, strict=True)
    )


def _plain(one: Change) -> Update:
    return Update(paths.of(one.path), one.operation, one.value)


def place(said: tuple[str, ...], keys: Sequence[Json]) -> Path:
    """Where keys lead, once what stood in the braces of `said` has come to something."""
    return paths.writable(paths.of(tuple(_key(one, key) for one, key in zip(said, keys, strict=True))))


def _key(said: str, value: Json) -> str:
    if isinstance(said, Index):
        return said
    if value is None or isinstance(value, Mapping | list):
        said = "nothing" if value is None else text_of(value)[:80]
        raise paths.PathInvalid(f"A path leads to {said}, which is no key.", "Give a text or a number in its braces.")
    return text_of(value)


def keys(path: str) -> tuple[str, ...]:
    """The keys of a path with templates in it: what stands in braces is never cut at its dots."""
    found = template.parse(path)
    spelled, held = "", dict[str, str]()
    for number, part in enumerate(found.parts):
        if isinstance(part, str):
            spelled += part
        else:
            mark = f"\ue000{number}\ue001"
            held[mark] = part.source
            spelled += mark
    return tuple(_restored(key, held) for key in paths.split(spelled))


def _restored(key: str, held: Mapping[str, str]) -> str:
    if isinstance(key, Index):
        return key
    for mark, source in held.items():
        key = key.replace(mark, source)
    return key


def original(step: Step) -> str:
    """The expression that the first value of a state_update is made from, as it was written."""
    detail: StateUpdate = step.detail
    value = detail.changes[0].value
    found = template.parse(value).expressions if isinstance(value, str) else ()
    return found[0].code if found else ""
