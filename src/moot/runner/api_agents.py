"""Agents that are models: a session in this process, with the tools of its attempt, over an API or from a script."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, nullcontext
from dataclasses import field
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

from moot.backends.backend import (
    Assignment,
    Backend,
    Briefing,
    Ended,
    Progress,
    Usage,
    Warned,
)
from moot.client.errors import ServerNotStarted
from moot.core import prices
from moot.core.clock import Clock, SystemClock
from moot.core.errors import InvalidInput
from moot.core.prices import Rates
from moot.core.records import record, replace
from moot.models import endpoints, opening, reserving, scripted
from moot.models.endpoints import Endpoint
from moot.models.model import Model, Request
from moot.models.reserving import Price
from moot.models.retrying import Patience, Retrying
from moot.models.scripted import ScriptedModel
from moot.runner import casts, tree_tools
from moot.runner.journals import Kept, StoredJournal
from moot.runner.letters import Letters
from moot.runner.session_requests import Withdrawing
from moot.runner.voices import Voices
from moot.session import events, streaming
from moot.session.agent import Agent
from moot.session.errand import Errand
from moot.session.journal import Journal, Memory
from moot.session.orchestra import Orchestra
from moot.session.report import Report
from moot.session.stage import Question, Stage
from moot.session.streaming import Tell, Told
from moot.session.term import Term


@record
class Asking:
    """Somebody in a tree, who asks one of its models something."""

    agent: Agent
    model: str
    question: Question


Between = Callable[[Assignment, Asking, Model], Model]
Pricing = Callable[[Request], Price]


class Shop(Protocol):
    """Where the models of agents come from."""

    def open(self, agent: Agent, name: str) -> AbstractAsyncContextManager[Model]: ...

    def price(self, agent: Agent, name: str) -> Pricing:
        """What its model costs, found out once for all that it is asked."""
        ...


@runtime_checkable
class AsksModels(Protocol):
    """A backend that asks models itself, so that somebody can stand between."""

    def through(self, between: Between) -> Backend:
        """The same backend, which asks what `between` makes of its models."""
        ...


class SessionBackend:
    """Runs an attempt as a tree of sessions; where their models come from is another matter."""

    def __init__(self, shop: Shop, between: Between | None = None) -> None:
        self._shop = shop
        self._between = between

    def through(self, between: Between) -> Backend:
        return SessionBackend(self._shop, between)

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        used = Usage()
        ended: Ended | None = Ended("no_result", "the session ended without a result")
        if assignment.manner.keeps_conversation:
            yield Warned("A model has no conversation of its own that could be kept: `resume` changes nothing here.")
        voices = Voices(assignment.agent, is_counted=isinstance(assignment, Kept))
        try:
            async with _Models(self._shop) as models, aclosing(await self._stream(assignment, models)) as running:
                async for told in running:
                    if isinstance(told, Report):
                        ended = _ended(told)
                        continue
                    for progress in voices.tell(told):
                        if isinstance(progress, Usage):
                            used += progress
                        yield progress
        except ServerNotStarted as error:  # it would not the next time either
            ended = Ended("cannot_start", f"{error.code}: {error}")
        if ended is None:  # as if the host had cut it off, only that nothing was under way
            raise asyncio.CancelledError
        yield replace(ended, usage=used)

    async def _stream(self, assignment: Assignment, models: "_Models") -> AsyncGenerator[Told | Report]:
        toolbox = assignment.toolbox
        if not tree_tools.has_offer(toolbox):
            raise InvalidInput("A session needs its tools in this process.", "Leave out `transport`.")
        journal = await assignment.journal() if isinstance(assignment, Kept) else None
        brief = await _brief(assignment, journal)
        if not prices.is_loaded() and (assignment.manner.model is not None or "cast" in assignment.settings):
            await asyncio.to_thread(prices.load)  # or everybody here would wait for it with the first request
        cast = casts.cast(assignment, brief, assignment.expand if isinstance(assignment, Kept) else str)
        root = cast[assignment.agent]
        letters = Letters(assignment, journal)
        if self._between is not None:
            models.wrap = partial(self._between, assignment)

        async def perform(tell: Tell) -> Report:
            async with tree_tools.opened(assignment, toolbox, cast) as tools:
                for trouble in tools.troubles:
                    tell(root.name, events.Warned(str(trouble)))
                term = Term(hours=assignment.requests.hours) if isinstance(assignment, Kept) else Term()
                kept = _kept(assignment, journal)
                stage = Stage(cast, kept, models.get, tools.of, tell, models.price, provider=casts.provider)
                if journal is not None:
                    stage = replace(stage, ending=journal.ending, asked=journal.asked, ends=journal.ends)
                errand = Errand(root, brief.prompt, hearing=letters, term=term)
                try:
                    report = (await Orchestra(stage).perform(errand)).report
                finally:
                    await letters.stop()  # which somebody may have left to whoever comes next, and nobody has come
            if journal is not None:
                await letters.give_back()
                await journal.end(report.failure)
            return report

        return streaming.stream(perform)


class _Models:
    """The models of one tree, each opened when it is first asked, and closed with the tree."""

    def __init__(self, shop: Shop) -> None:
        self.wrap: Callable[[Asking, Model], Model] | None = None
        self._shop = shop
        self._opened = AsyncExitStack()
        self._found: dict[tuple[str, str], Model] = {}
        self._opening: dict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._prices: dict[tuple[str, str], Pricing] = {}

    async def __aenter__(self) -> "_Models":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    async def get(self, agent: Agent, name: str, question: Question) -> Model:
        """Raises ModelFailed, and MootError for a model that cannot be asked at all."""
        key = (agent.name, name)
        if key not in self._found:
            async with self._opening[key]:
                if key not in self._found:  # nor has anybody opened it meanwhile
                    self._found[key] = await self._opened.enter_async_context(self._shop.open(agent, name))
        found = self._found[key]
        return found if self.wrap is None else self.wrap(Asking(agent, name, question), found)

    def price(self, agent: Agent, name: str, request: Request) -> Price:
        key = (agent.name, name)
        if (found := self._prices.get(key)) is None:
            found = self._prices[key] = self._shop.price(agent, name)
        return found(request)


class ApiBackend(SessionBackend):
    """Over the APIs of the models' providers, or at addresses of one's own."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, clock: Clock | None = None, patience: Patience | None = None
    ) -> None:
        super().__init__(_Shop(os.environ if environ is None else environ, clock or SystemClock(), patience))


class ScriptedModelBackend(SessionBackend):
    """The same for agents whose models are scripted; others in the tree may have real ones."""

    def __init__(self, clock: Clock | None = None, patience: Patience | None = None) -> None:
        super().__init__(_Shop(os.environ, clock or SystemClock(), patience))


@record
class _Shop:
    """Models over an API, or with the answers that stand in an agent's file."""

    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    patience: Patience | None

    def open(self, agent: Agent, name: str) -> AbstractAsyncContextManager[Model]:
        if "answers" in agent.settings:
            return nullcontext(Retrying(self._script(agent), self.clock, self.patience or Patience()))
        return opening.opened(self._endpoint(agent, name), self.clock, self.patience)

    def price(self, agent: Agent, name: str) -> Pricing:
        if "answers" in agent.settings:
            script = self._script(agent)
            return lambda request: Price(script.cost(request))
        return partial(reserving.price, self._endpoint(agent, name))

    def _script(self, agent: Agent) -> ScriptedModel:
        return ScriptedModel(scripted.parse(agent.settings["answers"]), self.clock)

    def _endpoint(self, agent: Agent, name: str) -> Endpoint:
        if not name:
            raise InvalidInput("An agent over an API needs a model.", "Write model: provider/name.")
        found = cast(Mapping[str, Mapping[str, Any]], agent.settings.get("endpoints", {})).get(name, {})
        endpoint = endpoints.find(name, self.environ, base_url=found.get("base_url"), env=found.get("env", ()))
        rates = found.get("rates")
        return endpoint if rates is None else replace(endpoint, rates=Rates(*rates))


def _kept(assignment: Assignment, journal: StoredJournal | None) -> Journal:
    if journal is None or not isinstance(assignment, Kept):
        return Memory()
    return Withdrawing(journal, assignment.requests)


async def _brief(assignment: Assignment, journal: StoredJournal | None) -> Briefing:
    """Whoever goes on with a conversation goes on from where it began."""
    if journal is None:
        return _bare(await assignment.brief())
    if journal.briefing is None:
        journal.begin(_bare(await assignment.brief()))
    assert journal.briefing is not None
    return journal.briefing


def _bare(brief: Briefing) -> Briefing:
    return Briefing(brief.request or brief.prompt, brief.system_prompt)


def _ended(report: Report) -> Ended | None:
    """None: moot is shut down, and this goes on with the next attempt."""
    if report.failure == "shutdown":
        return None
    return Ended(report.failure, report.error, report.text, wait_until=report.until, provider=report.provider)
