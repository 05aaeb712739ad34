"""Interleaved rounds and their medians. Machines are noisy, so whatever is compared is measured in the same round."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal


@dataclass(frozen=True, slots=True)
class Scale:
    """How much patience there is."""

    rounds: int = 9
    seconds: float = 0.6  # for one side of one round
    longest: float = 60.0  # for all rounds of one comparison; at least two are made
    is_quick: bool = False


QUICK = Scale(rounds=3, seconds=0.25, longest=15.0, is_quick=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """One answer: a ratio, what it should be, and absolute figures that judge nothing."""

    question: str
    ratio: float
    bar: float
    sense: Literal["at least", "at most"]
    facts: tuple[str, ...] = ()

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.bar if self.sense == "at least" else self.ratio <= self.bar


@dataclass(frozen=True, slots=True)
class Rounds:
    """What every side needed, round by round."""

    values: dict[str, list[float]]

    def ratio(self, over: str, under: str) -> float:
        """The median of the ratios of each round."""
        return median(a / b for a, b in zip(self.values[over], self.values[under], strict=True))

    def middle(self, side: str) -> float:
        return median(self.values[side])

    @property
    def count(self) -> int:
        return min(map(len, self.values.values()))


def interleaved(scale: Scale, **sides: Callable[[], float]) -> Rounds:
    """Measure every side once a round, another one first each time, until rounds or time are used up."""
    names = list(sides)
    values: dict[str, list[float]] = {name: [] for name in names}
    until = time.monotonic() + scale.longest
    for turn in range(scale.rounds):
        if turn >= 2 and time.monotonic() > until:
            break
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            values[name].append(sides[name]())
    return Rounds(values)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def micros(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f} µs"


def millis(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"
