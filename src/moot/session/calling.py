"""Makes the calls of one answer, all at once; results stand in the order of the calls."""

import asyncio
from collections.abc import Sequence

from moot.core import json
from moot.core.errors import MootError
from moot.core.tool import Toolbox
from moot.models.model import Call, Result

_NOTHING = "(empty)"  # providers refuse a text without a letter
_MOST = 200_000  # characters of one result: more would leave no room for anything else


async def make(calls: Sequence[Call], toolbox: Toolbox, *, is_cut: bool = False) -> tuple[Result, ...]:
    """`is_cut` tells that the answer was broken off, so that its last call may be half of one."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_make(call, toolbox, is_cut)) for call in calls]
    except BaseExceptionGroup as error:
        raise error.exceptions[0] from None  # what went wrong, as it is: callers know no groups
    return tuple(task.result() for task in tasks)


async def _make(call: Call, toolbox: Toolbox, is_cut: bool) -> Result:
    try:
        arguments = json.load_object(call.arguments)
    except MootError as error:
        why = "your answer was cut off before the call was complete" if is_cut else error.fact.rstrip(".")
        return Result(call, f"Nothing was done: {why}. Make the call again.", is_error=True)
    answer = await toolbox.call(call.name, arguments)
    return Result(call, _shortened(answer.text) or _NOTHING, answer.is_error)


def _shortened(text: str) -> str:
    if len(text) <= _MOST:
        return text
    return f"{text[:_MOST]}\n… ({len(text) - _MOST} more characters: ask for less at once)"
