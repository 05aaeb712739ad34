"""Tools, a toolbox that notes its calls, and how tests run a session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from moot.core.json import Json
from moot.core.tool import Call, Tool, ToolAnswer
from moot.models import scripted
from moot.models.model import Model
from moot.models.retrying import Patience, Retrying
from moot.models.scripted import ScriptedModel
from moot.session.events import Event, Finished
from moot.session.incoming import More
from moot.session.session import Session, Setup
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

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        self.calls.append((name, arguments))
        return await self.answering(name, arguments)


def script(*answers: Json) -> Model:
    clock = ManualClock()
    return Retrying(ScriptedModel(scripted.parse(answers), clock), clock, Patience(tries=3, first=0.0))


async def run(
    model: Model, toolbox: Toolbox | None = None, setup: Setup | None = None, more: More | None = None
) -> tuple[list[Event], Finished]:
    """All events but the last, and the last."""
    chosen = setup or Setup("Do it.", "Be kind.", (WEATHER,))
    session = Session(model, chosen, toolbox or Toolbox(), more or nothing_more)
    async with asyncio.timeout(60):
        *before, last = [event async for event in session.run()]
    assert isinstance(last, Finished)
    assert not any(isinstance(event, Finished) for event in before)
    return before, last


async def nothing_more() -> str:
    await asyncio.Event().wait()
    return ""


def mail(*texts: str) -> tuple[More, asyncio.Event]:
    """Texts that come one after the other, the first when the event is set."""
    has_come, left = asyncio.Event(), list[str](texts)

    async def more() -> str:
        await has_come.wait()
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    return more, has_come


def all_of(events: Sequence[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]
