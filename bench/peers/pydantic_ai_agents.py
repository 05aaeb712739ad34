"""The scenarios with pydantic-ai's Agent, which keeps nothing. Runs in the peers' environment."""

# pyright: basic, reportMissingImports=false

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from bench.crew import Job, Order, Result
from bench.peers import script
from bench.peers.script import Scenario

_NO_LIMIT = UsageLimits(request_limit=None)
Answering = Callable[[list[ModelMessage], AgentInfo], ModelResponse]


@contextmanager
def playing(setup: Order) -> Generator[Job]:
    """Takes orders: which scenario, and how often."""
    with asyncio.Runner() as runner:
        yield lambda order: runner.run(_timed(order["scenario"], order["repeats"]))


async def _timed(scenario: Scenario, repeats: int) -> Result:
    cpu, wall = time.process_time(), time.monotonic()
    for _ in range(repeats):
        assert await _play(scenario) == script.SAID
    return {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}


async def _play(scenario: Scenario) -> str:
    match scenario:
        case "tools":
            return (await _caller.run(script.PROMPT, usage_limits=_NO_LIMIT)).output
        case "chain":
            said = script.PROMPT
            for _ in script.STAGES:
                said = (await _speaker.run(said)).output
            return said
        case "advisors":
            advised = await asyncio.gather(*(_speaker.run(script.PROMPT) for _ in script.ADVISORS))
            return (await _speaker.run("\n\n".join((script.PROMPT, *(one.output for one in advised))))).output
        case "chat":
            return await _chat()


async def _chat() -> str:
    """Each in turn is told what the others have said since, in a conversation of its own."""
    histories: dict[str, list[ModelMessage]] = {name: [] for name in script.CHATTERS}
    news: dict[str, list[str]] = {name: [script.PROMPT] for name in script.CHATTERS}
    said = ""
    for _ in range(script.CYCLES):
        for name in script.CHATTERS:
            told, news[name] = "\n\n".join(news[name]), []
            result = await _speaker.run(told, message_history=histories[name])
            histories[name], said = result.all_messages(), result.output
            for other in script.CHATTERS:
                if other != name:
                    news[other].append(said)
    return said


def _says(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(script.SAID)])


def _calls(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) > 2 * script.TOOL_TURNS:
        return _says(messages, info)
    return ModelResponse(parts=[ToolCallPart(script.TOOL, dict(script.ARGUMENTS))])


async def look(place: str) -> str:
    """Look at a place."""
    return script.FOUND


_speaker = Agent(FunctionModel(_says))
_caller = Agent(FunctionModel(_calls), tools=[look])
