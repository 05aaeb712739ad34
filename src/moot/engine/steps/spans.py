"""Lengths of time in steps: a bare number is milliseconds, a text has a unit; an expression may be either."""

import math
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator

from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.engine.step import StepFailed, Visit

_MILLISECOND = timedelta(milliseconds=1)
_REMEDY = "Write milliseconds (1500), or a number and a unit: 500ms, 30s, 5m, 2h, 1d."


def _checked(value: int | float | str) -> int | float | str:
    if isinstance(value, str) and "{{" in value:
        return value  # known when the step is taken
    try:
        parse(value)
    except InvalidInput as error:
        raise ValueError(error.fact) from error
    return value


Span = Annotated[int | float | str, AfterValidator(_checked)]


def parse(value: Json) -> timedelta:
    if isinstance(value, str):
        return durations.parse(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InvalidInput(f"{str(value)[:40]} is not a duration.", _REMEDY)
    try:
        return value * _MILLISECOND
    except OverflowError:
        raise InvalidInput(f"{str(value)[:40]} ms is longer than anything lasts.", "Write fewer digits.") from None


async def resolved(visit: Visit, said: Json) -> timedelta:
    found = await visit.resolved(said)
    try:
        return parse(found)
    except InvalidInput as error:
        raise StepFailed(f"{visit.called}: {error.fact}", error.remedy) from error


def millis(span: timedelta) -> int:
    return math.ceil(span / _MILLISECOND)
