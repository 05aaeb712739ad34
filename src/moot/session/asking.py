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
        is_begun, provider = False, stage.provider(agent, name)
        begun = Begun(question.path, "model", name, agent.name, facts=question.facts, provider=provider)
        try:
            await pages.turn(replace(begun, reserve=stage.reserve(agent, name, question.request)))
            is_begun = True
            found = keeping.storable(await _ask(agent, name, question, stage))
        except ModelFailed as error:
            if is_begun:  # a model without a key, or that others wait for, is not asked at all
                pages.add(Done(question.path, stop=error.kind, error=str(error), until=error.until))
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


async def _ask(agent: Agent, name: str, question: Question, stage: Stage) -> Answer:
    found = Answer()
    model = await stage.model(agent, name, question)
    async with aclosing(model.ask(question.request)) as asked:
        async for progress in asked:
            match progress:
                case Piece(text):
                    stage.tell(agent.name, Wrote(text))
                case Again():
                    stage.tell(agent.name, Warned(f"{progress.reason} Trying again in {progress.seconds:.0f} s."))
                case Answer():
                    found = progress
    return found
