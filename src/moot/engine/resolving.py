"""Values with templates in them: everything that is to be evaluated is, in one request, and put in its place."""

from collections.abc import Iterator, Mapping, Sequence

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.text import sentence
from moot.engine.expressions import template
from moot.engine.expressions.evaluation import Evaluation, Evaluator, Fault, Outcome, Value
from moot.engine.expressions.template import Expression, Template
from moot.engine.state import reactive
from moot.engine.state.fields import Fields
from moot.engine.state.schema import Schema
from moot.engine.step import Resolved, Spell

_OWN = "own."  # keys of names that are no fields


class ExpressionFailed(MootError):
    """What stands in braces has no value."""

    code = "EXPRESSION_FAILED"


@record
class View:
    """What expressions see: the state, and before it the names of the place where they stand (`item`, `inputs`)."""

    fields: Fields
    schema: Schema
    own: Mapping[str, str]  # JSON text by name

    @property
    def scope(self) -> dict[str, str]:
        return {**self.fields, **{_OWN + name: text for name, text in self.own.items()}}

    def evaluation(self, one: Expression) -> Evaluation:
        own = one.names & self.own.keys()
        places = reactive.places(one.names - own, self.fields, self.schema)
        return Evaluation(one.code, (*((name, _OWN + name) for name in sorted(own)), *places), filters=one.filters)


async def resolve(evaluator: Evaluator, view: View, value: Json, spell: Spell | None = None) -> Resolved:
    """ExpressionFailed names the expression and says why."""
    found = list(dict.fromkeys(expressions(value)))
    outcomes = await evaluator.evaluate(view.scope, [view.evaluation(one) for one in found]) if found else []
    known = {one: _value(one, outcome) for one, outcome in zip(found, outcomes, strict=True)}
    return Resolved(_filled(value, known, spell), {one.source: made for one, made in known.items()})


async def evaluated(evaluator: Evaluator, view: View, one: Expression) -> Json:
    (outcome,) = await evaluator.evaluate(view.scope, [view.evaluation(one)])
    return _value(one, outcome)


def expressions(value: Json) -> Iterator[Expression]:
    """All that stand in a value, in the order in which they stand there."""
    if isinstance(value, str):
        yield from template.parse(value).expressions
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from expressions(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from expressions(inner)


def text_of(value: Json) -> str:
    """As it stands in a text: words as they are, all else as JSON, nothing for what is not there."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _value(one: Expression, outcome: Outcome) -> Json:
    match outcome:
        case Value():
            return json.loads(outcome.text)
        case Fault():
            fact = sentence(f"{one.source or one.code} failed: {outcome.message}")
            raise ExpressionFailed(fact, "Correct the expression.")
        case _:
            return None


def _filled(value: Json, known: Mapping[Expression, Json], spell: Spell | None) -> Json:
    if isinstance(value, str):
        return _put_in(template.parse(value), known, spell)
    if isinstance(value, Mapping):
        return {key: _filled(inner, known, spell) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_filled(inner, known, spell) for inner in value]
    return value


def _put_in(found: Template, known: Mapping[Expression, Json], spell: Spell | None) -> Json:
    """With `spell` everything is a text, also what stands alone."""
    if spell is not None:
        return "".join(part if isinstance(part, str) else spell(part, known[part]) for part in found.parts)
    if found.lone is not None:
        return known[found.lone]
    return "".join(part if isinstance(part, str) else text_of(known[part]) for part in found.parts)
