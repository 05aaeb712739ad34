"""An agent that plays lines from a script, through the same tools as everyone: for demos and tests."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from moot.backends import script
from moot.backends.backend import Assignment, Briefing, Called, Ended, Progress, Usage, Wrote
from moot.backends.script import Line, Match
from moot.core import durations
from moot.core.patterns import PatternTooSlow


class ScriptCrashed(Exception):
    """The script asked for a crash."""


class ScriptedBackend:
    """Plays the first matching line for each message of the inbox."""

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        lines = script.parse(assignment.settings)
        texts: list[str] = []
        usage = Usage()
        told = await assignment.brief() if lines.wants_briefing else Briefing()
        prompts = {"prompt": told.prompt, "system_prompt": told.system_prompt}
        for letter in assignment.inbox:
            try:
                found = script.match(lines, letter, prompts)
            except PatternTooSlow as error:
                yield Ended(failure="error", error=str(error), usage=usage)
                return
            if found is None:
                continue
            usage += _used(found.line)
            async for step in _play(found, assignment):
                if isinstance(step, Ended):
                    yield replace(step, usage=usage)
                    return
                if isinstance(step, Wrote):
                    texts.append(step.text)
                yield step
        yield Ended(text="\n\n".join(texts), usage=usage)


def _used(line: Line) -> Usage:
    said = line.usage
    return Usage(output_tokens=said.tokens, turns=said.turns, cost=said.cost, is_estimated=said.estimated)


async def _play(found: Match, assignment: Assignment) -> AsyncGenerator[Called | Wrote | Ended]:
    """Ended if the line fails."""
    line = found.line
    await asyncio.sleep(durations.parse(line.takes).total_seconds())
    for call in line.calls:
        for tool, arguments in call.items():
            answer = await assignment.toolbox.call(tool, found.fill(arguments))
            yield Called(tool, answer.is_error)
            if answer.is_error:
                yield Ended(failure="error", error=f"{tool}: {answer.text}")
                return
    is_failing = line.fails is None or assignment.number <= line.fails
    if line.hang and is_failing:
        await asyncio.Event().wait()
    if line.crash and is_failing:
        raise ScriptCrashed(f"{assignment.agent} crashed as its script says")
    if line.fail is not None and is_failing:
        yield Ended(failure="error", error=line.fail)
    elif text := found.fill(line.say):
        yield Wrote(text)
