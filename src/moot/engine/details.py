"""What is in the details of steps, whatever their kinds: expressions, and changes of the state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from moot.core.errors import MootError
from moot.engine.definition import Definition
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression
from moot.engine.steps.updating import Change


def expressions(detail: object) -> Iterator[Expression]:
    for one in _parts(detail):
        if isinstance(one, Expression):
            yield one
        elif isinstance(one, str) and "{{" in one:
            try:
                yield from template.parse(one).expressions
            except MootError:  # told where it was read
                continue


def changes(detail: object) -> Iterator[Change]:
    return (one for one in _parts(detail) if isinstance(one, Change))


def _parts(detail: object) -> Iterator[Any]:
    """Everything in what a kind has made of a step, but for workflows inside it."""
    yield detail
    if isinstance(detail, Expression | Change):
        inner: Sequence[object] = (*detail.path, detail.value) if isinstance(detail, Change) else ()
    elif isinstance(detail, Mapping):
        inner = list(cast(Mapping[str, object], detail).values())
    elif isinstance(detail, list | tuple):
        inner = cast(Sequence[object], detail)
    elif is_dataclass(detail) and not isinstance(detail, Definition):
        inner = [getattr(detail, one.name) for one in fields(detail)]
    else:
        inner = ()
    for one in inner:
        yield from _parts(one)
