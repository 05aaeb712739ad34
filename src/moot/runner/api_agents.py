"""Agents that are models: a session in this process, with the tools of its attempt, over an API or from a script."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from moot.backends.backend import (
    Assignment,
    Backend,
    Briefing,
    Called,
    Counted,
    Ended,
    Progress,
    Usage,
    Warned,
    Wrote,
)
from moot.core.clock import Clock, SystemClock
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.tool import Tool, ToolAnswer
from moot.models import endpoints, opening, reserving, scripted
from moot.models.endpoints import Endpoint
from moot.models.model import Model, ModelFailed, Request
from moot.models.retrying import Patience, Retrying
from moot.models.scripted import ScriptedModel
from moot.runner.journals import Kept, StoredJournal
from moot.runner.letters import Letters
from moot.session import events, streaming
from moot.session.agent import Agent, Limits
from moot.session.events import Event
from moot.session.journal import Memory
from moot.session.moot_tools import MootTools
from moot.session.orchestra import Orchestra
from moot.session.report import Report
from moot.session.scene import Scene
from moot.session.stage import Stage
from moot.session.streaming import Tell, Told

Opening = Callable[[Assignment], AbstractAsyncContextManager[Model]]
Between = Callable[[Assignment, Model], Model]
Reserve = Callable[[str, Request], float]
Reserving = Callable[[Assignment], Reserve]  # what a request may cost at most, in dollars


def _free(assignment: Assignment) -> Reserve:
    return lambda name, request: 0.0


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

    def __init__(self, opening: Opening, between: Between | None = None, reserving: Reserving = _free) -> None:
        self._opening = opening
        self._between = between
        self._reserving = reserving

    def through(self, between: Between) -> Backend:
        return SessionBackend(self._opening, between, self._reserving)

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        used = Usage()
        ended = Ended("no_result", "the session ended without a result")
        if assignment.manner.keeps_conversation:
            yield Warned("A model has no conversation of its own that could be kept: `resume` changes nothing here.")
        try:
            async with self._opening(assignment) as opened:
                model = opened if self._between is None else self._between(assignment, opened)
                reserve = self._reserving(assignment)
                async with aclosing(await _session(model, assignment, reserve)) as running:
                    async for told in running:
                        if isinstance(told, Report):
                            ended = _ended(told)
                        else:
                            progress = _progress(told.event, is_counted=isinstance(assignment, Kept))
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
        api = _Api(os.environ if environ is None else environ, clock or SystemClock(), patience)
        super().__init__(api, reserving=api.reserve)


class ScriptedModelBackend(SessionBackend):
    """With the answers of the agent's own settings, and no network."""

    def __init__(self, clock: Clock | None = None, patience: Patience | None = None) -> None:
        script = _Script(clock or SystemClock(), patience or Patience())
        super().__init__(script, reserving=script.reserve)


@dataclass(frozen=True, slots=True)
class _Api:
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    patience: Patience | None

    def __call__(self, assignment: Assignment) -> AbstractAsyncContextManager[Model]:
        return opening.opened(self._endpoint(assignment), self.clock, self.patience)

    def reserve(self, assignment: Assignment) -> Reserve:
        endpoint = self._endpoint(assignment)
        return lambda name, request: reserving.most(endpoint, request)

    def _endpoint(self, assignment: Assignment) -> Endpoint:
        manner = assignment.manner
        if manner.model is None:
            raise InvalidInput("An agent over an API needs a model.", "Write model: provider/name.")
        return endpoints.find(manner.model, self.environ, base_url=manner.base_url, env=manner.env)


@dataclass(frozen=True, slots=True)
class _Script:
    clock: Clock
    patience: Patience

    def __call__(self, assignment: Assignment) -> AbstractAsyncContextManager[Model]:
        return nullcontext(Retrying(self._model(assignment), self.clock, self.patience))

    def reserve(self, assignment: Assignment) -> Reserve:
        model = self._model(assignment)
        return lambda name, request: model.cost(request)

    def _model(self, assignment: Assignment) -> ScriptedModel:
        return ScriptedModel(scripted.parse(assignment.settings.get("answers", [])), self.clock)


async def _session(model: Model, assignment: Assignment, reserve: Reserve) -> AsyncGenerator[Told | Report]:
    toolbox = assignment.toolbox
    if not isinstance(toolbox, Offering):
        raise InvalidInput("A session needs its tools in this process.", "Leave out `transport`.")
    journal = await assignment.journal() if isinstance(assignment, Kept) else None
    brief = await _brief(assignment, journal)
    agent = _agent(assignment, brief)
    tools = MootTools(toolbox.offered(), toolbox)
    letters = Letters(assignment, journal)

    async def its_model(agent: Agent, name: str) -> Model:
        return model

    async def perform(tell: Tell) -> Report:
        kept = journal or Memory()
        stage = Stage({agent.name: agent}, kept, its_model, lambda agent, path: (tools,), tell, reserve)
        report = (await Orchestra(stage).perform(Scene(agent, brief.prompt, hearing=letters))).report
        if journal is not None:
            await letters.give_back()
            await journal.end(report.failure)
        return report

    return streaming.stream(perform)


async def _brief(assignment: Assignment, journal: StoredJournal | None) -> Briefing:
    """Whoever goes on with a conversation goes on from where it began."""
    if journal is None:
        return await assignment.brief()
    if journal.briefing is None:
        journal.begin(await assignment.brief())
    assert journal.briefing is not None
    return journal.briefing


def _agent(assignment: Assignment, brief: Briefing) -> Agent:
    said = assignment.settings.get("max_turns")
    limits = Limits(turns=said) if isinstance(said, int) else Limits()
    return Agent(assignment.agent, brief.system_prompt, reports=False, limits=limits)


def _ended(report: Report) -> Ended:
    """A report of the wrong shape, and a failure that the agent itself speaks of, are errors like others."""
    failure = "error" if report.failure in ("invalid", "reported") else report.failure
    return Ended(failure, report.error, report.text, wait_until=report.until)


def _progress(event: Event, *, is_counted: bool) -> Progress:
    match event:
        case events.Wrote(text):
            return Wrote(text)
        case events.Called(tool, is_error):
            return Called(tool, is_error)
        case events.Warned(text):
            return Warned(text)
        case events.Used(used):
            make = Counted if is_counted else Usage
            return make(used.input_tokens, used.output_tokens, 1, used.cost, used.is_estimated)
