"""Asks the models of an agent, one after the other, until one answers; each try is on record before it is made."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial

from moot.core.clock import SystemClock
from moot.core.records import replace
from moot.models import keeping, reserving
from moot.models.model import Again, Anew, Answer, ModelFailed, Piece, Request
from moot.models.reserving import Price
from moot.session.agent import Agent
from moot.session.events import Used, Warned, Wrote
from moot.session.journal import Done, Intent, OverBudget
from moot.session.pages import Pages
from moot.session.stage import Question, Stage

_SHORT = 1_024  # tokens: for less it is not worth asking
_PAUSE = 2.0  # seconds until somebody on another machine may have got an answer


class ShutDown(Exception):
    """Moot comes to its end, and the next try is not made."""


async def answer(agent: Agent, question: Question, stage: Stage, pages: Pages) -> Answer:
    """From the record if it is there; raises ModelFailed if no model answers, OverBudget, and ShutDown."""
    known = stage.journal.known(question.path)
    if known is not None and known.state == "done":
        return keeping.load(known.result)
    failures: list[ModelFailed] = []
    names = agent.models or ("",)
    for name in names:
        provider, is_last = stage.provider(agent, name), name == names[-1]
        intent = Intent(
            question.path,
            "model",
            name,
            agent.name,
            facts=question.facts,
            provider=provider,
            is_replaceable=not is_last,
        )
        tries = _Tries(intent, question, stage, pages, partial(stage.price, agent, name))
        try:
            found = keeping.storable(await _ask(agent, name, await tries.begin(), stage, tries))
            found = replace(found, at=SystemClock().now())
        except ModelFailed as error:
            tries.fail(error)
            error.provider = provider
            if failures or len(agent.models) > 1:
                stage.tell(agent.name, Warned(f"{name}: {error}"))
            failures.append(error)
            if not is_last:
                await _heed(stage)
            continue
        except OverBudget as error:  # another may cost less, or nothing
            if is_last or error.is_passing:
                raise
            stage.tell(agent.name, Warned(f"{name}: {error}"))
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

    def __init__(
        self, intent: Intent, question: Question, stage: Stage, pages: Pages, price: Callable[[Request], Price]
    ) -> None:
        self._intent = intent
        self._question = question
        self._stage = stage
        self._pages = pages
        self._price = price
        self._is_begun = False  # a model without a key, or that others wait for, is not asked at all

    async def begin(self) -> Question:
        """The question as it may be asked: where it costs something, its answer is held to what is set aside. What is
        only short because others have set it aside is waited for, unless moot is to stop."""
        price = self._price(self._question.request)
        if (begun := await self._begun(price)) is not None:
            return begun
        with self._stage.journal.given_back() as signal:
            while (begun := await self._begun(price)) is None:
                await signal.wait(_PAUSE)
                signal.clear()
        return begun

    async def _begun(self, price: Price) -> Question | None:
        """None if it has to be waited for."""
        request = self._question.request
        bound, told = request.max_tokens or reserving.longest(self._intent.name), reserving.tokens(request)
        fewest = min(bound, _SHORT)
        while True:
            cost, least = price.most(bound), price.most(fewest)
            try:
                await self._pages.turn(replace(self._intent, reserve=cost, least=least, tokens=told + bound))
            except OverBudget as error:
                if error.is_passing and await self._stage.asked() is None:
                    return None
                if not error.left:
                    raise
                bound = max(fewest, int((error.left - price.request) / price.token))
            else:
                self._is_begun = True
                return replace(self._question, request=replace(request, bound=bound)) if cost else self._question

    async def failed(self, why: Again) -> None:
        """Whoever waits before the next try has nothing under way. What this one has cost is not there for the next,
        which may have to be shorter."""
        self._end(Done(self._intent.path, stop=why.kind, error=why.reason, usage=why.used, is_retried=True))
        await self._pages.turn()

    def fail(self, error: ModelFailed) -> None:
        self._end(Done(self._intent.path, stop=error.kind, error=str(error), until=error.until, usage=error.used))

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
                    await tries.failed(progress)
                case Anew():
                    await _heed(stage)
                    progress.request = (await tries.begin()).request
                case Answer():
                    found = progress
    return found


async def _heed(stage: Stage) -> None:
    if await stage.asked() == "shutdown":
        raise ShutDown
