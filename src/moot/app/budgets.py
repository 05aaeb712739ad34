"""Budgets as people write them on the command line: `cost=20,attempts=400`, or `none`."""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta

from moot.core import durations
from moot.core.errors import InvalidInput, MootError
from moot.core.nearest import hint
from moot.workflow.workflow import Budget

Changes = Mapping[str, float | int | timedelta | None]  # None: no limit
_NAMES = tuple(field.name for field in fields(Budget))
_MOST = 1e12


class BudgetInvalid(InvalidInput):
    code = "BUDGET_INVALID"


def parse(spelling: str | None) -> Changes:
    """What `--budget` says; what it does not name stays as it is."""
    if spelling is None:
        return {}
    if spelling.strip() == "none":
        return dict.fromkeys(_NAMES)
    return dict(_part(part) for part in spelling.split(","))


def changed(budget: Budget, changes: Changes) -> Budget:
    return replace(budget, **changes)


def _part(part: str) -> tuple[str, float | int | timedelta | None]:
    name, _, value = (piece.strip() for piece in part.partition("="))
    if name not in _NAMES:
        written = f"Write cost={name.lstrip('$')}, for example. " if _is_amount(name) else ""
        raise BudgetInvalid(f"There is no budget for {name[:80]!r}.", f"{written}{hint(name, _NAMES)}")
    if value == "none":
        return name, None
    return name, _time(value) if name == "time" else _number(name, value)


def _is_amount(text: str) -> bool:
    return text.lstrip("$").replace(".", "", 1).isdigit()


def _time(value: str) -> timedelta:
    try:
        found = durations.parse(value)
    except MootError as error:
        raise BudgetInvalid(f"time: {error.fact}", error.remedy) from error
    if not found:
        raise BudgetInvalid("time: it must be longer than nothing.", "Write a number and a unit: 30m, 2h.")
    return found


def _number(name: str, value: str) -> float | int:
    kind = float if name == "cost" else int
    try:
        found = kind(value)
    except ValueError:
        found = 0
    if found >= _MOST or math.isinf(found):
        raise BudgetInvalid(f"{name}: {value[:40]!r} is too large.", f"Write fewer digits, or {name}=none.")
    if not found > 0:
        wanted = "a number" if name == "cost" else "a whole number"
        raise BudgetInvalid(f"{name}: {value[:40]!r} is not {wanted} above 0.", f"Write {name}=20, or {name}=none.")
    return found
