"""What is evaluated, and what comes of it. Values are JSON text from one end to the other: state is stored that way,
and most of it is only passed on."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from moot.core.records import record

Scope = Mapping[str, str]  # what evaluations may use: JSON text by key


@record
class Evaluation:
    """One piece of JavaScript. It sees `input` and its names; what is not in the scope is undefined."""

    code: str
    names: tuple[tuple[str, str], ...] = ()  # what it is called there, and where it is in the scope
    inputs: tuple[str, ...] = ()  # without one of these there is no result
    lists_inputs: bool = False  # `input` is a list, even of one
    filters: tuple[str, ...] = ()
    target: str = ""  # the key under which later ones find the result
    fallback: str | None = None  # the JSON text that stands in for what fails
    validate: str = ""


@record
class Value:
    text: str
    fault: "Fault | None" = None  # what it stands in for
    millis: float = 0.0  # that it took


@record
class Absent:
    """There is none: `undefined`, or something it is made from is not there."""

    millis: float = 0.0


@record
class Fault:
    """It failed, in the words of JavaScript; `line` counts from the first of the code, 0 if nobody knows."""

    message: str
    line: int = 0
    millis: float = 0.0


Outcome = Value | Absent | Fault


class Evaluator(Protocol):
    async def evaluate(self, scope: Scope, evaluations: Sequence[Evaluation]) -> list[Outcome]:
        """All of them in their order, each in sight of the results of those before it."""
        ...
