"""Prints figures: a table for people, or JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any

from bench.harness import Figure


def table(name: str, figures: Sequence[Figure]) -> str:
    """One line a figure, what was seen below it."""
    lines = [f"{name}"]
    for figure in figures:
        sign = "≥" if figure.sense == "at least" else "≤"
        verdict = "met" if figure.is_met else "NOT MET"
        lines.append(f"  {figure.question:<74} {spelled(figure.ratio):>8}   {sign} {spelled(figure.bar):<7} {verdict}")
        lines += [f"      {fact}" for fact in figure.facts]
    return "\n".join(lines)


def spelled(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"


def plain(name: str, figures: Sequence[Figure]) -> str:
    found: list[dict[str, Any]] = [
        {
            "name": name,
            "question": figure.question,
            "ratio": round(figure.ratio, 4),
            "bar": figure.bar,
            "sense": figure.sense,
            "is_met": figure.is_met,
            "facts": list(figure.facts),
        }
        for figure in figures
    ]
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in found)
