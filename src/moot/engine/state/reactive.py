"""Reactive state: an update of raw fields, and with it exactly what is computed from them, in one evaluation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from moot.core import json
from moot.core.errors import MootError
from moot.core.records import record, replace
from moot.core.text import sentence
from moot.engine.expressions.evaluation import Evaluation, Evaluator, Fault, Outcome, Value
from moot.engine.state import fields
from moot.engine.state.fields import Fields
from moot.engine.state.operations import Update
from moot.engine.state.schema import Computed, Schema


class TransformFailed(MootError):
    """A computed field could not be computed, and nothing stands in for it; nothing was changed."""

    code = "TRANSFORM_FAILED"


@record
class Trace:
    """One evaluation of a computed field."""

    field: str
    trigger: str
    millis: float
    error: str = ""
    inside: str = ""  # the prefix of the fields that are meant, in an included workflow


@record
class Change:
    """What an update comes to: the new text of every field that is different, None where a field is gone."""

    fields: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    traces: tuple[Trace, ...] = ()

    @property
    def computed(self) -> dict[str, str | None]:
        return {key: text for key, text in self.fields.items() if key.startswith("computed.")}

    def inside(self, prefix: str) -> "Change":
        """The same, of a state whose fields are kept under a prefix."""
        if not prefix:
            return self
        traces = tuple(replace(one, inside=prefix) for one in self.traces)
        return Change({prefix + key: text for key, text in self.fields.items()}, traces)

    def then(self, further: "Change") -> "Change":
        return Change({**self.fields, **further.fields}, (*self.traces, *further.traces))

    def over(self, before: Fields) -> Fields:
        """All fields with this change."""
        if not self.fields:
            return before
        after = {**before, **self.fields}
        return {key: text for key, text in after.items() if text is not None}


async def update(evaluator: Evaluator, schema: Schema, before: Fields, updates: Sequence[Update]) -> Change:
    """TransformFailed names the field, the line and what JavaScript says."""
    raw = fields.updated(before, updates)
    dirty = schema.dirty(raw)
    return await _computed(evaluator, schema, {**before, **raw}, raw, dirty) if dirty else Change(raw)


async def follow(evaluator: Evaluator, schema: Schema, after: Fields, raw: Mapping[str, str]) -> Change:
    """What follows from raw fields that have changed; `after` is the state with them."""
    dirty = schema.dirty(raw)
    return await _computed(evaluator, schema, after, raw, dirty) if dirty else Change(raw)


async def _computed(
    evaluator: Evaluator, schema: Schema, after: Fields, raw: Mapping[str, str], dirty: Sequence[Computed]
) -> Change:
    outcomes = await evaluator.evaluate(after, [evaluation(one, after, schema) for one in dirty])
    changed: dict[str, str | None] = dict(raw)
    for one, outcome in zip(dirty, outcomes, strict=True):
        text = _text(one, outcome)
        if text != after.get(one.key):
            changed[one.key] = text
    return Change(changed, tuple(_traces(schema, dirty, outcomes, raw)))


def evaluation(one: Computed, known: Fields, schema: Schema) -> Evaluation:
    return Evaluation(
        one.transform,
        names=places(one.names, known, schema),
        inputs=one.sources,
        lists_inputs=one.lists_inputs,
        target=one.key,
        fallback=json.dumps(one.fallback) if one.on_error == "use_fallback" else None,
        validate=one.validate,
    )


def places(names: Iterable[str], known: Fields, schema: Schema) -> tuple[tuple[str, str], ...]:
    """Those that mean a field, and where it is kept. Any other is JavaScript's own, or a mistake."""
    found: list[tuple[str, str]] = []
    for name in sorted(names):
        key = f"computed.{name}" if name in schema.computed else fields.key_of(known, name)
        if name in schema.names or key in known:
            found.append((name, key))
    return tuple(found)


def _text(one: Computed, outcome: Outcome) -> str | None:
    match outcome:
        case Value():
            return outcome.text
        case Fault() if one.on_error == "propagate":
            raise failed(one, outcome)
        case _:
            return None


def failed(one: Computed, fault: Fault) -> TransformFailed:
    where = f" (line {one.line + fault.line - 1})" if one.line and fault.line else ""
    return TransformFailed(
        sentence(f"computed.{one.name}{where} failed: {fault.message}"),
        "Correct its transform, or say what stands in for it: on_error: use_fallback with a fallback.",
    )


def _traces(
    schema: Schema, dirty: Sequence[Computed], outcomes: Iterable[Outcome], raw: Mapping[str, str]
) -> Iterable[Trace]:
    triggers = {name: key for key in reversed(list(raw)) for name in schema.dependents(key)}  # the first of them stays
    for one, outcome in zip(dirty, outcomes, strict=True):
        fault = outcome if isinstance(outcome, Fault) else outcome.fault if isinstance(outcome, Value) else None
        yield Trace(one.name, triggers[one.name], outcome.millis, fault.message if fault else "")
