"""Sessions on tape: agents that asked models are sessions again, over models that answer from the tape.

The sessions are moot's own, at work, one or a tree of them. At their desk they are given what the recording has for
them, each by its path in the tree: the answers of models as they came, and what they heard on their way. The calls that
they make are made for real, each in its turn. What they ask is compared with what was asked. Where the tape has nothing
to go on with (the attempt was cut off there, or its requests were too many to keep) they end without a result, and the
rest is played as that of a program.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import replace
from functools import partial

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Letter, Usage
from moot.bus.mailbox import Mail
from moot.core import json
from moot.core.json import Json
from moot.core.records import record
from moot.core.tool import Tool, ToolAnswer
from moot.core.tree_path import TreePath
from moot.models import model
from moot.models.model import Again, Anew, Answer, Model, ModelFailed, Piece, Request
from moot.models.reserving import FREE
from moot.runner.api_agents import Asking, Pricing, SessionBackend
from moot.runner.journals import Kept
from moot.runner.tree_tools import Offering
from moot.session.agent import Agent
from moot.taping.replaying import foreseen, notes, request_likeness
from moot.taping.replaying.exchanges import Exchange
from moot.taping.replaying.performance import Part, Performance
from moot.taping.replaying.score import Note, is_of_model
from moot.taping.tape import SCRIPTED, Call, End, More, Progress, Refused, Replied, Unanswered
from moot.tools import arrivals
from moot.workflow import stored


class Unplayable(Exception):  # no error: it is where the tape ends
    """The tape has nothing that a session could go on with."""


def is_possible(assignment: Assignment) -> bool:
    """Not where somebody had more than moot's tools: nothing is done to files, and no program is run."""
    everybody = stored.definitions(assignment.agent, "api", assignment.settings)
    is_ours = isinstance(assignment.toolbox, Offering) and isinstance(assignment, Kept)
    return is_ours and not any(one.session_tools for one in everybody)


async def play(
    performance: Performance, part: Part, assignment: Assignment, *, is_alike: bool
) -> AsyncGenerator[contract.Progress]:
    """What sessions tell, and their end if they come to one. `is_alike` tells that they have the same mail."""
    assert isinstance(assignment.toolbox, Offering)
    assert isinstance(assignment, Kept)
    desk = Desk(performance, part, is_alike=is_alike)
    tools, journal = _Tools(desk, assignment.toolbox), partial(foreseen.open, performance, part, desk)
    backend = SessionBackend(_Shop(), desk.between)
    part.is_session = True
    # What sessions use is counted with their journal.
    performance.turns.leave_out(one for one in desk.own if isinstance(one, Progress))
    performance.turns.bell.set()  # there may be mail for it already
    try:
        async with aclosing(backend.run(replace(assignment, toolbox=tools, more=_nothing, journal=journal))) as running:
            async for progress in running:
                if isinstance(progress, Usage):
                    await desk.until_stopped()
                if isinstance(progress, contract.Ended):
                    desk.compare_end()
                yield progress
    except Unplayable:
        return
    finally:
        async with part.mail:
            part.is_session = False


async def _nothing() -> tuple[Letter, ...]:
    """What comes meanwhile is handed out in its turn, and told as in the recording."""
    await asyncio.Event().wait()
    return ()


class _Shop:
    """Has no models: all are asked at the desk."""

    def open(self, agent: Agent, name: str) -> AbstractAsyncContextManager[Model]:
        return nullcontext(_Silent())

    def price(self, agent: Agent, name: str) -> Pricing:
        return lambda request: FREE


class _Silent:
    async def ask(self, request: Request) -> AsyncGenerator[model.Progress]:
        raise AssertionError("no model is asked in a replay")
        yield


@record
class _AtTheDesk:
    desk: "Desk"
    asking: Asking

    def ask(self, request: Request) -> AsyncGenerator[model.Progress]:
        return self.desk.ask(self.asking)


class Desk:
    """Where the sessions of an attempt find their models and their tools, as the recording has them."""

    def __init__(self, performance: Performance, part: Part, *, is_alike: bool) -> None:
        assert part.begin is not None
        self._performance = performance
        self._part = part
        self._attempt = part.begin.attempt
        self._root = part.begin.agent
        self._is_alike = is_alike
        self.foreseen = performance.exchanges[self._attempt]
        self._left: dict[str, deque[Exchange | Refused]] = {}  # by path: one model is asked after the other
        for one in self.foreseen:
            self._left.setdefault(one.path, deque()).append(one)
        self._under_way: dict[str, int] = {}  # how much is still to come of a request, by path
        self._asked = Counter[str]()  # requests, by session
        self._messages: dict[str, int] = {}  # of the last request, by session
        self.own = performance.score.of_attempt(self._attempt)
        self._calls = _with_mail(self.own, performance.score.heard)
        self._ends: dict[str, Replied | Unanswered] = {}  # that came, and are not on record yet, by path
        self._is_closed = False

    def between(self, assignment: Assignment, asking: Asking, silent: Model) -> Model:
        return _AtTheDesk(self, asking)

    async def ask(self, asking: Asking) -> AsyncGenerator[model.Progress]:
        exchange = await self._next(asking)
        await notes.turn(self._performance, self._part, exchange.asked)
        self._performance.turns.done(exchange.asked)
        path = asking.question.path
        self._under_way[path] = len(exchange.failures) + (exchange.end is not None)
        for failed in exchange.failures:
            await self._comes(path, failed)
            if failed.text:
                yield Piece(failed.text)
            yield Again(failed.kind, failed.error, failed.again or 0.0, failed.usage)
            yield Anew(asking.question.request)
        if exchange.end is not None:
            await self._comes(path, exchange.end)
        match exchange.end:
            case Replied() as replied:
                answer = self._answer(replied)
                if answer.text:
                    yield Piece(answer.text)
                yield answer
            case Unanswered() as failed:
                raise ModelFailed(failed.kind, failed.error, failed.remedy, used=failed.usage)
            case None if exchange.is_given_up:
                raise TimeoutError
            case None:
                await self._give_up()

    async def _comes(self, path: str, end: Replied | Unanswered) -> None:
        """It is its turn until it is on record."""
        await notes.turn(self._performance, self._part, end)
        self._ends[path] = end
        self._under_way[path] -= 1

    def refused(self, path: str, model: str) -> Refused | None:
        """Whether this request was not made in the recording; told once."""
        left = self._left.get(path)
        if not left or not isinstance(left[0], Refused) or left[0].model != (model or SCRIPTED):
            return None
        if self._under_way.get(path):
            return None
        found = left.popleft()
        assert isinstance(found, Refused)
        return found

    async def call(self, path: str) -> ToolAnswer:
        """Made in its turn. What mail was told with the answer is told with it again."""
        if path not in self._calls:
            await self._give_up()
        told: tuple[Mail, ...] = ()
        for note in self._calls[path]:
            await notes.turn(self._performance, self._part, note)
            if self._is_closed:
                await asyncio.Event().wait()  # until whoever has given up has ended this, too
            with self._part.working():
                if isinstance(note, Call):
                    await notes.make(self._performance, self._part, note)
                else:
                    told += await notes.hand_out(self._performance, self._part, note)
                self._performance.turns.done(note)
        call = next(one for one in self._calls[path] if isinstance(one, Call))
        await notes.settle(self._performance, self._part, self._performance.score.heard[id(call)] + 1)
        # As it was, if nobody has answered: that is noted as a drift by then.
        answer = self._part.answers.pop(id(call), ToolAnswer(call.text, call.structured, call.is_error))
        return arrivals.told(answer, list(told)) if told else answer

    def on_record(self, paths: Iterable[str]) -> None:
        """What these came to is in the journal, and what they used is counted: others may go on."""
        ends = [self._ends.pop(path) for path in paths if path in self._ends]
        self._performance.turns.leave_out(ends)

    async def until_stopped(self) -> None:
        """Until it is time for the end, if moot has ended the attempt because of what it had used by now."""
        turns = self._performance.turns
        left = [one for one in self.own if not turns.is_done(one) and not is_of_model(one)]
        if len(left) == 1 and isinstance(left[0], End) and left[0].how == "cancelled":
            await notes.turn_for_moot(self._performance, self._part, left[0])

    def compare_end(self) -> None:
        """It ends here; in the recording more may have been asked by then."""
        if self._has_ended():
            for left in (one for several in self._left.values() for one in several if isinstance(one, Exchange)):
                self._drift(left.asked.agent, left.session, left.asked.number, "it is not asked any more")

    def _has_ended(self) -> bool:
        """Whether it did so in the recording, by itself."""
        return any(isinstance(one, End) and one.how == "ended" for one in self.own)

    def _is_whole(self, session: str) -> bool:
        """Whether the recording has all that was asked in a session: there is nothing that was done behind it."""
        is_cut = any(one.kind == "cut" for one in self._performance.score.progress.get(self._attempt, ()))
        behind = [one for path, (one, *_) in self._calls.items() if TreePath(path).session == session]
        return self._has_ended() and not is_cut and all(self._performance.turns.is_done(one) for one in behind)

    async def _give_up(self) -> None:
        """What is being done is done first, or it would be done twice."""
        self._is_closed = True
        while self._part.works:
            self._part.is_done.clear()
            await self._part.is_done.wait()
        raise Unplayable

    async def _next(self, asking: Asking) -> Exchange:
        question, name = asking.question, asking.model or SCRIPTED
        session, left = TreePath(question.path).session, self._left.get(question.path)
        if left and left[0].model != name and left[0].model in asking.agent.models:
            raise ModelFailed("unavailable", f"{name} was not asked in the recording.")
        self._asked[session] += 1
        number = self._asked[session]
        if not left or isinstance(left[0], Refused):
            if self._is_whole(session):
                self._drift(asking.agent.name, session, number, "the recording does not have it")
            await self._give_up()
            raise AssertionError("whoever gives up is gone")
        exchange, messages = left[0], self._messages.get(session, 0)
        left.popleft()
        if exchange.asked.model != name and asking.agent.name != self._root:  # of that one it is told without asking
            self._drift(asking.agent.name, session, number, f"the model is {name} instead of {exchange.asked.model}")
        if self._is_alike or messages:
            known, request = self._performance.plain, question.request
            for fact in request_likeness.compare(exchange, request, messages, known):
                self._drift(asking.agent.name, session, number, fact)
        self._messages[session] = len(question.request.messages)
        return exchange

    def _drift(self, agent: str, session: str, call: int, fact: str) -> None:
        number = self._performance.score.number_of(self._attempt)
        place = f"at {session} of {self._root}, " if session else ""
        self._performance.drifts.asked(agent, f"{place}attempt {number}, call {call}", fact)

    def _answer(self, replied: Replied) -> Answer:
        known = self._performance.likeness
        calls = tuple(model.Call(one.id, one.tool, _written(known.translate(one.arguments))) for one in replied.calls)
        return Answer(known.translate(replied.text), calls, replied.stop, replied.usage)


def _with_mail(own: "list[Note]", heard: Mapping[int, int]) -> dict[str, list[Call | More]]:
    """The calls of an attempt by path, each with the mail that was told with its answer, in the order of the score."""
    calls = sorted((one for one in own if isinstance(one, Call)), key=lambda one: heard[id(one)])
    paths = [one.path or "" for one in calls]
    found: dict[str, list[Call | More]] = {}
    for one in own:
        if isinstance(one, Call) and one.path is not None:
            found.setdefault(one.path, []).append(one)
        elif isinstance(one, More) and one.call is not None and one.call < len(paths):
            found.setdefault(paths[one.call], []).append(one)
    return found


@record
class _Tools:
    """What the attempt is offered now; what comes of a call is found at the desk."""

    desk: Desk
    tools: Offering

    def offered(self) -> tuple[Tool, ...]:
        return self.tools.offered()

    async def call(self, name: str, arguments: Mapping[str, Json], path: str = "") -> ToolAnswer:
        return await self.desk.call(path)


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
