"""Where the result of a step's work goes, and its error: what to write, and how whoever does the work is told of it."""

from collections.abc import Mapping

from pydantic import Field, JsonValue

from moot.core import json
from moot.core.json import Json
from moot.engine import resolving
from moot.engine.resolving import text_of
from moot.engine.shape import WriteShape
from moot.engine.state.operations import Update
from moot.engine.step import Outcome, StepFailed, Visit
from moot.engine.steps import updating
from moot.engine.steps.updating import Change

RESULT, ERROR = "result", "error"
OWN = frozenset((RESULT, ERROR))  # names that nobody knows before the work is done
_LONG = 1000  # characters of a value, beyond which nobody is shown it twice


class ResultShape(WriteShape):
    """A place in the state, and what of the result to write there."""

    value: JsonValue = Field(default="{{ result }}", description="What to write; `result` is what came of the step")


class ErrorShape(WriteShape):
    """A place in the state, and what to write there if it fails."""

    value: JsonValue = Field(default="{{ error }}", description="What to write; `error.message` says what went wrong")


def change(said: WriteShape | None) -> Change | None:
    return None if said is None else updating.change(said)


async def updates(visit: Visit, writes: Change | None, own: Mapping[str, Json]) -> tuple[Update, ...]:
    return () if writes is None else await updating.updates(visit, (writes,), own)


async def shown(visit: Visit, writes: Change | None) -> dict[str, Json]:
    """The part of a definition that says where the result goes."""
    if writes is None:
        return {}
    path: list[Json] = [*writes.path]
    if not any(one.names & OWN for one in resolving.expressions(path)):
        path = [str(updating.place(writes.path, [text_of(key) for key in await _keys(visit, path)]))]
    told: dict[str, Json] = {"path": ".".join(str(key) for key in path), "value": writes.value}
    return {"state_update": told if writes.operation == "set" else {**told, "operation": writes.operation}}


async def _keys(visit: Visit, path: list[Json]) -> list[Json]:
    found = await visit.resolved(path)
    assert isinstance(found, list)
    return found


def told(definition: Mapping[str, Json]) -> str:
    """The same as a sentence."""
    found = definition.get("state_update")
    return f" moot keeps it at {found['path']}." if isinstance(found, Mapping) else ""


def replacements(made: Mapping[str, Json]) -> dict[str, Json]:
    """What expressions came to, without what is long."""
    return {source: value for source, value in made.items() if len(json.dumps(value)) <= _LONG}


def original(said: Json) -> str:
    """The text itself, if something in it was evaluated."""
    return said[:_LONG] if isinstance(said, str) and any(resolving.expressions(said)) else ""


def succeeded(visit: Visit, outcome: Outcome) -> Json:
    """The result; StepFailed if there is none, for kinds that take no care of that."""
    if outcome.status == "failed":
        raise StepFailed(f"{visit.called} failed: {message(outcome)}", "See why, then resume.")
    return outcome.result


def message(outcome: Outcome) -> str:
    return outcome.error.strip() or "nobody has said why"
