"""Asks the models of an agent, one after the other, until one answers; each try is on record before it is made."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from moot.core.clock import SystemClock
from moot.core.records import record, replace
from moot.models import keeping, reserving
from moot.models.model import Again, Anew, Answer, ModelFailed, Piece, Progress
from moot.models.reserving import Price
from moot.session.agent import Agent
from moot.session.events import Used, Warned, Wrote
from moot.session.journal import Done, Intent, OverBudget
from moot.session.pages import Pages
from moot.session.stage import Question, Stage
from moot.session.term import Term

_SHORT = 1_024  # tokens: for less it is not worth asking
_PAUSE = 2.0  # seconds until somebody on another machine may have got an answer


class ShutDown(Exception):
    """Moot comes to its end, and the next try is not made."""


@record
class Asker:
    """Who asks."""

    agent: Agent
    stage: Stage
    pages: Pages
    term: Term


async def answer(asker: Asker, question: Question, *, is_last: bool) -> Answer:
    """From the record if it is there; raises ModelFailed if no model answers, OverBudget, Recalled, and ShutDown."""
    agent, stage = asker.agent, asker.stage
    known = stage.journal.known(question.path)
    if known is not None and known.state == "done":
        return keeping.load(known.result)
    failures: list[ModelFailed] = []
    names = agent.models or ("",)
    for name in names:
        provider, is_final = stage.provider(agent, name), name == names[-1]
        tries = _Tries(asker, question, _Wish(name, provider, is_replaceable=not is_final, is_last=is_last))
        try:
            found = keeping.storable(await _ask(asker, name, await tries.begin(), tries))
            found = replace(found, at=SystemClock().now())
        except ModelFailed as error:
            tries.fail(error)
            error.provider = provider
            if failures or len(agent.models) > 1:
                stage.tell(agent.name, Warned(f"{name}: {error}"))
            failures.append(error)
            if not is_final:
                await _heed(stage)
            continue
        except OverBudget as error:  # another may cost less, or nothing
            if is_final or error.is_passing:
                raise
            stage.tell(agent.name, Warned(f"{name}: {error}"))
            continue
        asker.pages.add(Done(question.path, keeping.dump(found), found.usage, found.stop))
        stage.tell(agent.name, Used(found.usage))
        return found
    raise _told(failures)


def _told(failures: Sequence[ModelFailed]) -> ModelFailed:
    """Whoever can be waited for is, the shortest wait first; else the last of them."""
    limited = [one for one in failures if one.kind == "rate_limit"]
    return min(limited, key=lambda one: one.until.timestamp() if one.until else 0.0) if limited else failures[-1]


@record
class _Wish:
    """To ask this model, whatever it may cost."""

    model: str
    provider: str
    is_replaceable: bool
    is_last: bool


class _Tries:
    """Each try at one model is on record before it is made, and how it failed before the next."""

    def __init__(self, asker: Asker, question: Question, wish: _Wish) -> None:
        self._asker = asker
        self._question = question
        self._wish = wish
        self._is_begun = False  # a model without a key, or that others wait for, is not asked at all

    async def begin(self) -> Question:
        """The question as it may be asked: where it costs something, its answer is held to what is set aside. What is
        only short because others have set it aside is waited for, unless moot is shut down; the time stands still."""
        asker = self._asker
        price = asker.stage.price(asker.agent, self._wish.model, self._question.request)
        if (begun := await self._begun(price)) is not None:
            return begun
        with asker.stage.journal.given_back() as signal, asker.term.stands_still():
            while (begun := await self._begun(price)) is None:
                await signal.wait(_PAUSE)
                signal.clear()
        return begun

    async def _begun(self, price: Price) -> Question | None:
        """None if it has to be waited for."""
        request = self._question.request
        bound, told = request.max_tokens or reserving.longest(self._wish.model), reserving.tokens(request)
        fewest = min(bound, _SHORT)
        while True:
            cost, least = price.most(bound), price.most(fewest)
            try:
                await self._asker.pages.turn(self._intent(cost, least, told + bound))
            except OverBudget as error:
                if error.is_passing:
                    await _heed(self._asker.stage)
                    return None
                if not error.left:
                    raise
                bound = max(fewest, int((error.left - price.request) / price.token))
            else:
                self._is_begun = True
                return replace(self._question, request=replace(request, bound=bound)) if cost else self._question

    def _intent(self, cost: float, least: float, tokens: int) -> Intent:
        wish, question = self._wish, self._question
        return Intent(
            question.path,
            "model",
            wish.model,
            self._asker.agent.name,
            facts=question.facts,
            reserve=cost,
            least=least,
            tokens=tokens,
            provider=wish.provider,
            is_replaceable=wish.is_replaceable,
            is_last=wish.is_last,
        )

    async def failed(self, why: Again) -> None:
        """Whoever waits before the next try has nothing under way. What this one has cost is not there for the next,
        which may have to be shorter."""
        self._end(Done(self._question.path, stop=why.kind, error=why.reason, usage=why.used, is_retried=True))
        await self._asker.pages.turn()

    def fail(self, error: ModelFailed) -> None:
        self._end(Done(self._question.path, stop=error.kind, error=str(error), until=error.until, usage=error.used))

    def _end(self, done: Done) -> None:
        if self._is_begun:
            self._asker.pages.add(done)
        self._is_begun = False


async def _ask(asker: Asker, name: str, question: Question, tries: _Tries) -> Answer:
    agent, stage, found = asker.agent, asker.stage, Answer()
    model = await stage.model(agent, name, question)
    async with aclosing(model.ask(question.request)) as asked:
        async for progress in asked:
            match progress:
                case Piece(text):
                    stage.tell(agent.name, Wrote(text))
                case Again():
                    stage.tell(agent.name, Warned(f"{progress.reason} Trying again in {progress.seconds:.0f} s."))
                    await tries.failed(progress)
                    anew = await _after_pause(asked, stage)
                    await _heed(stage)
                    anew.request = (await tries.begin()).request
                case Anew():
                    raise AssertionError("the end of a pause without a beginning")
                case Answer():
                    found = progress
    return found


async def _after_pause(asked: AsyncGenerator[Progress], stage: Stage) -> Anew:
    """Nobody sits out a pause when moot comes to its end."""
    coming, ends = asyncio.ensure_future(anext(asked)), asyncio.ensure_future(stage.ends())
    try:
        await asyncio.wait((coming, ends), return_when=asyncio.FIRST_COMPLETED)
        if not coming.done():
            await _heed(stage)
        anew = await coming
        assert isinstance(anew, Anew)
        return anew
    finally:
        for one in (coming, ends):
            one.cancel()
        await asyncio.wait((coming, ends))


async def _heed(stage: Stage) -> None:
    if await stage.asked() == "shutdown":
        raise ShutDown
