"""Performs agents with scripted models, and keeps what each of them was asked."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace

from moot.core.hours import Hours
from moot.core.json import Json
from moot.models import scripted
from moot.models.model import Model, Progress, Request, Results, Said, Usage
from moot.models.reserving import FREE, Price
from moot.models.scripted import ScriptedModel
from moot.session.agent import Agent
from moot.session.errand import Errand
from moot.session.events import Event, Used
from moot.session.hearing import Deaf, Hearing
from moot.session.journal import Journal, Memory
from moot.session.orchestra import Orchestra
from moot.session.performing import Played
from moot.session.report import Report
from moot.session.source import Source
from moot.session.stage import Asked, Question, Stage
from moot.session.term import Term
from moot.testing.clock import ManualClock


def agent(name: str, *answers: Json, **said: object) -> Agent:
    """An agent whose model gives these answers."""
    return replace(Agent(name, settings={"answers": list(answers)}), **said)  # pyright: ignore[reportArgumentType]


def reports(text: Json, **more: Json) -> Json:
    """An answer that ends in a report."""
    return {"calls": [{"final_report": {"report": text, **more}}]}


def calls(name: str, **arguments: Json) -> Json:
    return {"calls": [{name: arguments}]}


@dataclass
class Hall:
    """Where a performance takes place. What was asked of models stays, also over several performances."""

    journal: Journal = field(default_factory=Memory)
    sources: Sequence[Source] = ()
    asked: list[tuple[str, Request]] = field(default_factory=list[tuple[str, Request]])
    events: list[tuple[str, Event]] = field(default_factory=list[tuple[str, Event]])
    hearing: Hearing = field(default_factory=Deaf)  # of the first
    price: Callable[[Agent, str, Request], Price] = lambda agent, model, request: FREE
    model: Model | None = None  # of everybody, instead of what is in their settings
    asked_for: Asked | None = None  # from outside
    ends: asyncio.Event = field(default_factory=asyncio.Event)  # of moot itself
    ends_with: str = ""  # when the model of this agent is asked, moot is shut down
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    held: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])  # models that wait, by agent

    async def play(self, *cast: Agent, prompt: str = "Do it.", hours: Hours | None = None) -> Played:
        """The first of them, with the help of the others."""
        models: dict[str, Model] = {}

        async def its_model(agent: Agent, name: str, question: Question) -> Model:
            if self.model is not None:
                return self.model
            answers = scripted.parse(agent.settings[f"answers:{name}" if name else "answers"])
            return models.setdefault(f"{agent.name}:{name}", _Asked(ScriptedModel(answers, ManualClock()), agent, self))

        stage = Stage(
            {one.name: one for one in cast},
            self.journal,
            its_model,
            lambda agent, path: self.sources if agent.tools is None else (),
            lambda agent, event: self.events.append((agent, event)),
            self.price,
            self._asked_for,
            self.ends.wait,
        )
        async with asyncio.timeout(60):
            return await Orchestra(stage).perform(Errand(cast[0], prompt, hearing=self.hearing, term=Term(hours=hours)))

    async def _asked_for(self) -> Asked | None:
        return self.asked_for

    def note(self, name: str, request: Request) -> None:
        self.asked.append((name, request))
        if name == self.ends_with:
            self.asked_for = "shutdown"
        self._news.set()

    async def report(self, *cast: Agent, prompt: str = "Do it.", hours: Hours | None = None) -> Report:
        return (await self.play(*cast, prompt=prompt, hours=hours)).report

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until what was asked is so."""
        async with asyncio.timeout(60):
            while not is_so():
                self._news.clear()
                await self._news.wait()

    def told(self, name: str, number: int = 1) -> str:
        """The last words in the nth request to an agent's model."""
        request = [one for who, one in self.asked if who == name][number - 1]
        match request.messages[-1]:
            case Said(text):
                return text
            case Results() as last:
                return "\n".join((*(one.text for one in last.results), last.text)).strip()
            case _:
                raise AssertionError("nothing was said to it")

    def tools(self, name: str, number: int = 1) -> list[str]:
        request = [one for who, one in self.asked if who == name][number - 1]
        return [one.name for one in request.tools]

    def order(self) -> list[str]:
        """Whose models were asked."""
        return [name for name, _ in self.asked]

    def used(self) -> list[tuple[str, Usage]]:
        return [(name, event.usage) for name, event in self.events if isinstance(event, Used)]


@dataclass(frozen=True)
class _Asked:
    model: Model
    agent: Agent
    hall: Hall

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        self.hall.note(self.agent.name, request)
        if (held := self.hall.held.get(self.agent.name)) is not None:
            await held.wait()
        async for progress in self.model.ask(request):
            yield progress
