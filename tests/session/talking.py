"""Tools, a toolbox that notes its calls, and how tests run a session."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from pydantic import BaseModel

from moot.core.json import Json
from moot.core.tool import Call, Tool, ToolAnswer
from moot.models import scripted
from moot.models.model import Model
from moot.models.retrying import Patience, Retrying
from moot.models.scripted import ScriptedModel
from moot.session import streaming
from moot.session.agent import Agent
from moot.session.errand import Errand
from moot.session.events import Event
from moot.session.hearing import Heard
from moot.session.incoming import Incoming, More
from moot.session.journal import Memory
from moot.session.moot_tools import MootTools
from moot.session.report import Report
from moot.session.session import Session
from moot.session.stage import Question, Stage
from moot.session.streaming import Tell, Told
from moot.testing.clock import ManualClock


class Place(BaseModel):
    city: str = "Bern"


async def _nothing(call: Call, given: Place) -> Place:
    raise NotImplementedError  # the toolbox answers


WEATHER = Tool("weather", "sky", "Tells the weather.", "none", Place, Place, _nothing, str)
Answering = Callable[[str, Mapping[str, Json]], Awaitable[ToolAnswer]]


async def _sunny(name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
    return ToolAnswer(f"sunny in {arguments.get('city')}", {})


@dataclass
class Toolbox:
    answering: Answering = _sunny
    calls: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list[tuple[str, Mapping[str, Json]]])

    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> ToolAnswer:
        self.calls.append((name, arguments))
        return await self.answering(name, arguments)


def script(*answers: Json) -> Model:
    clock = ManualClock()
    return Retrying(ScriptedModel(scripted.parse(answers), clock), clock, Patience(tries=3, first=0.0))


async def run(
    model: Model, toolbox: Toolbox | None = None, agent: Agent | None = None, more: More | None = None
) -> tuple[list[Event], Report]:
    """All events, and the report."""
    async with asyncio.timeout(60), aclosing(stream(model, toolbox, agent, more)) as told:
        *before, last = [one async for one in told]
    assert isinstance(last, Report)
    return [one.event for one in before if isinstance(one, Told)], last


def stream(
    model: Model, toolbox: Toolbox | None = None, agent: Agent | None = None, more: More | None = None
) -> AsyncGenerator[Told | Report]:
    tools = MootTools((WEATHER,), toolbox or Toolbox())
    chosen = agent or Agent("ann", "Be kind.", reports=False)

    async def its_model(agent: Agent, name: str, question: Question) -> Model:
        return model

    async def perform(tell: Tell) -> Report:
        stage = Stage({chosen.name: chosen}, Memory(), its_model, lambda agent, path: (tools,), tell)
        errand = Errand(chosen, "Do it.", hearing=Incoming(more or nothing_more))
        return await Session(errand, stage).run()

    return streaming.stream(perform)


async def nothing_more() -> Heard | None:
    await asyncio.Event().wait()
    return None


def mail(*texts: str) -> tuple[More, asyncio.Event]:
    """Texts that come one after the other, the first when the event is set."""
    has_come, left = asyncio.Event(), list[str](texts)

    async def more() -> Heard | None:
        await has_come.wait()
        if not left:
            await asyncio.Event().wait()
        return Heard(left.pop(0))

    return more, has_come


def all_of(events: Sequence[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]
