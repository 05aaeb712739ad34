"""How a flow begins: inputs checked and completed, the state as its definition says, and all that follows from it."""

from collections.abc import Mapping

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.nearest import hint
from moot.engine import field_type, resolving
from moot.engine.definition import Definition, InputField
from moot.engine.expressions.evaluation import Evaluator
from moot.engine.resolving import View
from moot.engine.scope import INPUTS
from moot.engine.state import reactive
from moot.engine.state.reactive import Change


class InputInvalid(InvalidInput):
    """What was given is not what the workflow asks for."""

    code = "INPUT_INVALID"


def inputs(definition: Definition, given: Mapping[str, Json]) -> dict[str, Json]:
    """With what stands in for those that were not given. InputInvalid says which is missing, unknown or of another
    type."""
    return _inputs(definition.inputs, given, definition.name)


def given(definition: Definition, by: Mapping[str, Json]) -> dict[str, Json]:
    """The same of an included workflow; one that asks for nothing takes whatever it is given."""
    return inputs(definition, by) if definition.inputs else dict(by)


def _inputs(wanted: tuple[InputField, ...], given: Mapping[str, Json], of: str) -> dict[str, Json]:
    known = {one.name: one for one in wanted}
    for name in given:
        if name not in known:
            raise InputInvalid(f"{of} has no input `{name[:80]}`.", hint(name, known))
    found: dict[str, Json] = {}
    for one in wanted:
        value = given.get(one.name)
        if value is None and one.default is None and one.is_required:
            raise InputInvalid(f"{of} needs the input `{one.name}`{_told(one)}.", "Give it under inputs.")
        value = one.default if value is None else value
        if value is not None and not field_type.fits(value, one.type):
            wanted_type = field_type.described(one.type)
            raise InputInvalid(f"The input `{one.name}` must be {wanted_type}.", f"Give {wanted_type}.")
        if value is not None and not _is_option(value, one):
            listed = ", ".join(map(resolving.text_of, one.options))
            raise InputInvalid(f"The input `{one.name}` must be one of {listed}.", "Choose one of them.")
        found[one.name] = value
    return found


async def state(
    evaluator: Evaluator, definition: Definition, given: Mapping[str, Json], own: Mapping[str, str] | None = None
) -> Change:
    """Every field as it is at the beginning; `own` are further names that its expressions know."""
    known = {**(own or {}), INPUTS: json.dumps(given)}
    sections = await resolving.resolve(evaluator, View({}, definition.schema, known), dict(definition.default_state))
    assert isinstance(sections.value, Mapping)
    raw = {
        f"{section}.{name}": json.dumps(value)
        for section, fields in sections.value.items()
        for name, value in _object(fields).items()
    }
    begun = await reactive.follow(evaluator, definition.schema, raw, raw)
    return Change({**begun.fields, INPUTS: known[INPUTS]}, begun.traces)


def _is_option(value: Json, one: InputField) -> bool:
    given = value if isinstance(value, list | tuple) else (value,)
    return not one.options or all(each in one.options for each in given)


def _told(one: InputField) -> str:
    return f" ({one.description.rstrip('.')})" if one.description else ""


def _object(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping)
    return value
