"""Advisors: all are asked the same at once, and what they say stands under the request when the agent begins."""

import asyncio
from collections.abc import Callable

from moot.models import reserving
from moot.session.agent import Cast
from moot.session.errand import Errand
from moot.session.performing import Perform
from moot.session.report import Report
from moot.session.subagents import failure_report


async def enriched(errand: Errand, cast: Cast, perform: Perform, warn: Callable[[str], None]) -> str | Report:
    """The request and their reports, or the report of one who is put off. Whoever fails is heard with that: nobody is
    asked a second time."""
    names = errand.agent.advisors
    if not names:
        return errand.prompt
    asked = [errand.next(cast[name], errand.prompt, "advisor") for name in names]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_report(one, perform)) for one in asked]
    except BaseExceptionGroup as error:
        raise error.exceptions[0] from None
    reports = [task.result() for task in tasks]
    if (waiting := next((one for one in reports if one.is_put_off), None)) is not None:
        return waiting
    for name, report in zip(names, reports, strict=True):
        if report.failure is not None:
            warn(f"The advisor {name} failed ({report.failure}): {report.error}")
    words = _fitting([_words(name, report) for name, report in zip(names, reports, strict=True)], errand)
    told = [f"### From {name}\n\n{said}" for name, said in zip(names, words, strict=True)]
    return "\n\n".join((f"## ORIGINAL USER REQUEST\n\n{errand.prompt}", "## ANALYSIS GATHERED", *told))


async def _report(errand: Errand, perform: Perform) -> Report:
    return (await perform(errand)).report


def _fitting(words: list[str], errand: Errand) -> list[str]:
    """Half of what the agent can hold is for them, in equal parts; the rest is for its work."""
    most = errand.agent.limits.context_tokens
    if most is None or sum(map(reserving.letters_of, words)) <= most * reserving.LETTERS // 2:
        return words
    part = most * reserving.LETTERS // 2 // len(words)
    return [_cut(one, part) for one in words]


def _cut(words: str, most: int) -> str:
    shown = reserving.beginning(words, most)
    return words if shown == words else f"{shown}\n… (cut off: {len(words):,} characters in all)"


def _words(name: str, report: Report) -> str:
    return report.text if report.failure is None else failure_report(name, report)
