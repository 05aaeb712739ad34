"""Asks the models of an agent, one after the other, until one answers; each try is on record before it is made."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from moot.models import keeping
from moot.models.model import Again, Answer, ModelFailed, Piece
from moot.session.agent import Agent
from moot.session.events import Used, Warned, Wrote
from moot.session.journal import Begun, Done
from moot.session.pages import Pages
from moot.session.question import Question
from moot.session.stage import Stage


async def answer(agent: Agent, question: Question, stage: Stage, pages: Pages) -> Answer:
    """From the record if it is there; raises ModelFailed if no model answers, and OverBudget."""
    known = stage.journal.known(question.path)
    if known is not None and known.state == "done":
        return keeping.load(known.result)
    failures: list[ModelFailed] = []
    for name in agent.models or ("",):
        provider = stage.provider(agent, name)
        tries = _Tries(Begun(question.path, "model", name, agent.name, facts=question.facts, provider=provider), pages)
        try:
            await tries.begin(stage.reserve(agent, name, question.request))
            found = keeping.storable(await _ask(agent, name, question, stage, tries))
        except ModelFailed as error:
            tries.fail(error)
            error.provider = provider
            if failures or len(agent.models) > 1:
                stage.tell(agent.name, Warned(f"{name}: {error}"))
            failures.append(error)
            continue
        pages.add(Done(question.path, keeping.dump(found), found.usage, found.stop))
        stage.tell(agent.name, Used(found.usage))
        return found
    raise _told(failures)


def _told(failures: Sequence[ModelFailed]) -> ModelFailed:
    """Whoever can be waited for is, the shortest wait first; else the last of them."""
    limited = [one for one in failures if one.kind == "rate_limit"]
    return min(limited, key=lambda one: one.until.timestamp() if one.until else 0.0) if limited else failures[-1]


class _Tries:
    """Each try at one model is on record before it is made, and how it failed before the next."""

    def __init__(self, begun: Begun, pages: Pages) -> None:
        self._begun = begun
        self._pages = pages
        self._is_begun = False  # a model without a key, or that others wait for, is not asked at all

    async def begin(self, reserve: float) -> None:
        self._begun = replace(self._begun, reserve=reserve)
        await self._pages.turn(self._begun)
        self._is_begun = True

    async def again(self, failed: Again) -> None:
        self._end(Done(self._begun.path, stop=failed.kind, error=failed.reason, usage=failed.used))
        await self.begin(self._begun.reserve)

    def fail(self, error: ModelFailed) -> None:
        self._end(Done(self._begun.path, stop=error.kind, error=str(error), until=error.until, usage=error.used))

    def _end(self, done: Done) -> None:
        if self._is_begun:
            self._pages.add(done)
        self._is_begun = False


async def _ask(agent: Agent, name: str, question: Question, stage: Stage, tries: _Tries) -> Answer:
    found = Answer()
    model = await stage.model(agent, name, question)
    async with aclosing(model.ask(question.request)) as asked:
        async for progress in asked:
            match progress:
                case Piece(text):
                    stage.tell(agent.name, Wrote(text))
                case Again():
                    stage.tell(agent.name, Warned(f"{progress.reason} Trying again in {progress.seconds:.0f} s."))
                    await tries.again(progress)
                case Answer():
                    found = progress
    return found
