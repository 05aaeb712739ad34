"""Turns database rows into records: dataclasses by column name, single values as they are."""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

from moot.core import clock, json

T = TypeVar("T")
Row = Sequence[Any]
Reader = Callable[[Row], Any]
_Convert = Callable[[Any], Any]


# How the rows of a statement become records. Asking a driver for their columns costs more than reading a few rows.
_known: dict[tuple[str, type], Reader] = {}


def known_reader(statement: str, into: type[T]) -> Callable[[Row], T] | None:
    """The reader that was made for this statement before."""
    return _known.get((statement, into))


def new_reader(statement: str, into: type[T], columns: tuple[str, ...]) -> Callable[[Row], T]:
    """A reader for this statement, kept for the next time."""
    found = _known[statement, into] = reader(into, columns)
    return found


@cache
def reader(into: type[T], columns: tuple[str, ...]) -> Callable[[Row], T]:
    """A function from a row with these columns to a record."""
    if not dataclasses.is_dataclass(into):
        return _single(_converter(into))
    hints = typing.get_type_hints(into)
    fields = [field.name for field in dataclasses.fields(into) if field.init]
    if missing := [name for name in fields if name not in columns]:
        raise TypeError(f"{into.__name__} needs columns {missing}; the statement gives {list(columns)}")
    places = [columns.index(name) for name in fields]
    conversions = [(at, convert) for at, name in enumerate(fields) if (convert := _converter(hints[name]))]
    make = cast(Callable[..., T], into)
    if fields == list(columns) and not conversions:
        return lambda row: make(*row)
    return _assembler(make, places, conversions, len(columns))


def _single(convert: _Convert | None) -> Reader:
    if convert is None:
        return lambda row: row[0]
    return lambda row: None if row[0] is None else convert(row[0])


def _assembler(
    make: Callable[..., T], places: list[int], conversions: list[tuple[int, _Convert]], columns: int
) -> Callable[[Row], T]:
    in_order = places == list(range(columns))

    def assemble(row: Row) -> T:
        values = [*row] if in_order else [row[place] for place in places]
        for at, convert in conversions:
            if (value := values[at]) is not None:
                values[at] = convert(value)
        return make(*values)

    return assemble


def _converter(hint: Any) -> _Convert | None:
    """How a stored value becomes this type; None when it already is one."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        inner = [argument for argument in typing.get_args(hint) if argument is not type(None)]
        return _converter(inner[0]) if len(inner) == 1 else None
    if hint is datetime:
        return clock.from_micros
    if hint is bool:
        return bool
    if isinstance(hint, type) and issubclass(hint, str) and hint is not str:
        return hint
    # Most lists and objects are empty, and to parse them takes ten times as long as to see that.
    if origin is tuple:
        return lambda text: () if text == "[]" else tuple(cast(list[Any], json.loads(text)))
    if origin in (dict, list, Mapping, Sequence):
        return lambda text: {} if text == "{}" else json.loads(text)
    return None
