"""Agents that are models: a session in this process, with the tools of its attempt, over an API or from a script."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from moot.backends.backend import Assignment, Backend, Briefing, Called, Ended, Letter, Progress, Usage, Warned, Wrote
from moot.core import quoting
from moot.core.clock import Clock, SystemClock
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.tool import Tool, ToolAnswer
from moot.models import endpoints, opening, scripted
from moot.models.model import Model, ModelFailed
from moot.models.retrying import Patience, Retrying
from moot.models.scripted import ScriptedModel
from moot.session import events, streaming
from moot.session.agent import Agent, Limits
from moot.session.events import Event
from moot.session.hearing import Heard
from moot.session.incoming import Incoming
from moot.session.journal import Memory
from moot.session.moot_tools import MootTools
from moot.session.orchestra import Orchestra
from moot.session.report import Report
from moot.session.scene import Scene
from moot.session.stage import Stage
from moot.session.streaming import Tell, Told

_MOST_OF_MAIL = 50_000  # characters of one message
Opening = Callable[[Assignment], AbstractAsyncContextManager[Model]]
Between = Callable[[Assignment, Model], Model]


@runtime_checkable
class Offering(Protocol):
    """A toolbox that knows what it holds."""

    def offered(self) -> tuple[Tool, ...]: ...
    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer: ...
    def recall(self, name: str, arguments: Mapping[str, Json]) -> None: ...


@runtime_checkable
class AsksModels(Protocol):
    """A backend that asks models itself, so that somebody can stand between."""

    def through(self, between: Between) -> Backend:
        """The same backend, which asks what `between` makes of its models."""
        ...


class SessionBackend:
    """Runs an attempt as a session; where its model comes from is another matter."""

    def __init__(self, opening: Opening, between: Between | None = None) -> None:
        self._opening = opening
        self._between = between

    def through(self, between: Between) -> Backend:
        return SessionBackend(self._opening, between)

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        used = Usage()
        ended = Ended("no_result", "the session ended without a result")
        if assignment.manner.keeps_conversation:
            yield Warned("A model has no conversation of its own that could be kept: `resume` changes nothing here.")
        try:
            async with self._opening(assignment) as opened:
                model = opened if self._between is None else self._between(assignment, opened)
                async with aclosing(await _session(model, assignment)) as running:
                    async for told in running:
                        if isinstance(told, Report):
                            ended = _ended(told)
                        else:
                            progress = _progress(told.event)
                            used += progress if isinstance(progress, Usage) else Usage()
                            yield progress
        except ModelFailed as error:  # before a request was made
            ended = Ended(error.kind, str(error), wait_until=error.until)
        yield Ended(ended.failure, ended.error, ended.text, used, wait_until=ended.wait_until)


class ApiBackend(SessionBackend):
    """Over the API of the model's provider, or at the agent's own address."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, clock: Clock | None = None, patience: Patience | None = None
    ) -> None:
        super().__init__(_Api(os.environ if environ is None else environ, clock or SystemClock(), patience))


class ScriptedModelBackend(SessionBackend):
    """With the answers of the agent's own settings, and no network."""

    def __init__(self, clock: Clock | None = None, patience: Patience | None = None) -> None:
        super().__init__(_Script(clock or SystemClock(), patience or Patience()))


@dataclass(frozen=True, slots=True)
class _Api:
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    patience: Patience | None

    def __call__(self, assignment: Assignment) -> AbstractAsyncContextManager[Model]:
        manner = assignment.manner
        if manner.model is None:
            raise InvalidInput("An agent over an API needs a model.", "Write model: provider/name.")
        found = endpoints.find(manner.model, self.environ, base_url=manner.base_url, env=manner.env)
        return opening.opened(found, self.clock, self.patience)


@dataclass(frozen=True, slots=True)
class _Script:
    clock: Clock
    patience: Patience

    def __call__(self, assignment: Assignment) -> AbstractAsyncContextManager[Model]:
        answers = scripted.parse(assignment.settings.get("answers", []))
        return nullcontext(Retrying(ScriptedModel(answers, self.clock), self.clock, self.patience))


async def _session(model: Model, assignment: Assignment) -> AsyncGenerator[Told | Report]:
    toolbox = assignment.toolbox
    if not isinstance(toolbox, Offering):
        raise InvalidInput("A session needs its tools in this process.", "Leave out `transport`.")
    brief = await assignment.brief()
    agent = _agent(assignment, brief)
    tools = MootTools(toolbox.offered(), toolbox)

    async def its_model(agent: Agent, name: str) -> Model:
        return model

    async def more() -> Heard | None:
        letters = await assignment.more()
        return Heard(quoting.arrived(_letter(one) for one in letters)) if letters else None

    async def perform(tell: Tell) -> Report:
        stage = Stage({agent.name: agent}, Memory(), its_model, lambda agent, path: (tools,), tell)
        scene = Scene(agent, brief.prompt, hearing=Incoming(more))
        return (await Orchestra(stage).perform(scene)).report

    return streaming.stream(perform)


def _agent(assignment: Assignment, brief: Briefing) -> Agent:
    said = assignment.settings.get("max_turns")
    limits = Limits(turns=said) if isinstance(said, int) else Limits()
    return Agent(assignment.agent, brief.system_prompt, reports=False, limits=limits)


def _letter(one: Letter) -> str:
    return quoting.letter(one.sender, one.body, _MOST_OF_MAIL, is_urgent=one.priority == "high")


def _ended(report: Report) -> Ended:
    """A report of the wrong shape, and a failure that the agent itself speaks of, are errors like others."""
    failure = "error" if report.failure in ("invalid", "reported") else report.failure
    return Ended(failure, report.error, report.text, wait_until=report.until)


def _progress(event: Event) -> Progress:
    match event:
        case events.Wrote(text):
            return Wrote(text)
        case events.Called(tool, is_error):
            return Called(tool, is_error)
        case events.Warned(text):
            return Warned(text)
        case events.Used(used):
            return Usage(used.input_tokens, used.output_tokens, 1, used.cost, used.is_estimated)
