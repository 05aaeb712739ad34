"""Sessions on tape: an agent that asked models is a session again, over a model that answers from the tape.

The session is moot's own, at work. At its desk it is given what the recording has for it: answers of the model as they
came, mail before the request that it was told with. The calls that it makes are made for real, each in its turn. What
it asks is compared with what was asked. Where the tape has nothing to go on with (the attempt was cut off there, or its
requests were too many to keep) the session ends without a result, and the rest is played as that of a program.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Letter, Usage
from moot.bus.mailbox import Mail
from moot.core import json
from moot.core.json import Json
from moot.core.tool import Tool, ToolAnswer
from moot.models import model
from moot.models.model import Again, Answer, Model, ModelFailed, Piece, Request
from moot.runner.api_agents import SessionBackend
from moot.runner.tree_tools import Offering
from moot.session.agent import Agent
from moot.taping.replaying import notes, request_likeness
from moot.taping.replaying.exchanges import Exchange
from moot.taping.replaying.performance import Part, Performance
from moot.taping.tape import Call, End, More, Replied, Unanswered, Wanted
from moot.tools import arrivals
from moot.workflow import stored


class Unplayable(Exception):  # no error: it is where the tape ends
    """The tape has nothing that a session could go on with."""


def is_possible(assignment: Assignment) -> bool:
    """Not of a session that had more than moot's tools: nothing is done to files, and no program is run."""
    everybody = stored.definitions(assignment.agent, "api", assignment.settings)
    return isinstance(assignment.toolbox, Offering) and not any(one.session_tools for one in everybody)


async def play(
    performance: Performance, part: Part, assignment: Assignment, *, is_alike: bool
) -> AsyncGenerator[contract.Progress]:
    """What a session tells, and its end if it comes to one. `is_alike` tells that it has the same mail."""
    assert isinstance(assignment.toolbox, Offering)
    desk = Desk(performance, part, is_alike=is_alike)
    played = replace(assignment, toolbox=_Tools(desk, assignment.toolbox), more=desk.more)
    backend = SessionBackend(_Shop(desk))
    try:
        async with aclosing(backend.run(played)) as running:
            async for progress in running:
                if isinstance(progress, Usage):
                    await desk.until_stopped()
                yield progress
    except Unplayable:
        return


@dataclass(frozen=True, slots=True)
class _Shop:
    """Every model is the desk."""

    desk: "Desk"

    def open(self, agent: Agent, name: str) -> AbstractAsyncContextManager[Model]:
        return nullcontext(self.desk)

    def most(self, agent: Agent, name: str, request: Request) -> float:
        return 0.0


@dataclass(slots=True)
class _Order:
    """A call that the session waits for."""

    wanted: Wanted
    answer: "asyncio.Future[ToolAnswer]"


@dataclass(slots=True)
class _Post:
    """Mail on its way to a session that waits for it. It counts as taken when the session will see it."""

    letters: list[Letter] = field(default_factory=list[Letter])
    has_come: asyncio.Event = field(default_factory=asyncio.Event)
    is_taken: asyncio.Event = field(default_factory=asyncio.Event)
    is_awaited: bool = False

    async def take(self) -> tuple[Letter, ...]:
        self.is_awaited = True
        await self.has_come.wait()
        self.is_awaited = False
        found, self.letters = tuple(self.letters), []
        self.has_come.clear()
        self.is_taken.set()
        return found

    async def deliver(self, letters: Sequence[Letter]) -> None:
        self.letters += letters
        self.is_taken.clear()
        self.has_come.set()
        if self.is_awaited:
            await self.is_taken.wait()


class Desk:
    """Where a session finds its model, its tools and its mail, as the recording has them."""

    def __init__(self, performance: Performance, part: Part, *, is_alike: bool) -> None:
        assert part.begin is not None
        self._performance = performance
        self._part = part
        self._attempt = part.begin.attempt
        self._agent = part.begin.agent
        self._is_alike = is_alike
        self._exchanges = performance.exchanges[self._attempt]
        self._asked = 0
        self._messages = 0  # of the last request
        self._orders: list[_Order] = []
        self._told: dict[int, tuple[Mail, ...]] = {}  # with the answer of a call, by its note's id
        self._post = _Post()

    async def ask(self, request: Request) -> AsyncGenerator[model.Progress]:
        exchange = self._next(request)
        for failed in exchange.failures:
            if failed.text:
                yield Piece(failed.text)
            yield Again(failed.kind, failed.error, failed.again or 0.0)
        match exchange.end:
            case Replied() as replied:
                if not exchange.wanted:  # nothing follows that could wait for what came meanwhile
                    await self._play(exchange)
                answer = self._answer(replied)
                if answer.text:
                    yield Piece(answer.text)
                yield answer
            case Unanswered() as failed:
                await self._play(exchange)
                raise ModelFailed(failed.kind, failed.error, failed.remedy)
            case None:
                raise Unplayable

    async def call(self, name: str) -> ToolAnswer:
        """The calls of one answer come in its order, and are made in that of the tape."""
        exchange = self._exchanges[self._asked - 1]
        if not isinstance(exchange.end, Replied) or len(exchange.calls) != exchange.wanted:
            raise Unplayable
        readable = [one for one in exchange.end.calls if not isinstance(one.arguments, str)]
        order = _Order(readable[len(self._orders)], asyncio.get_running_loop().create_future())
        self._orders.append(order)
        if order.wanted.tool != name:
            raise Unplayable
        if len(self._orders) == exchange.wanted:
            await self._play(exchange)
            self._serve(exchange)
        return await order.answer

    async def more(self) -> tuple[Letter, ...]:
        return await self._post.take()

    async def until_stopped(self) -> None:
        """Until it is time for the end, if moot has ended the attempt because of what it had used by now."""
        left = self._left()
        if len(left) == 1 and isinstance(left[0], End) and left[0].how == "cancelled":
            await notes.turn_for_moot(self._performance, self._part, left[0])

    def _next(self, request: Request) -> Exchange:
        self._asked += 1
        if self._asked > len(self._exchanges):
            if any(isinstance(one, End) and one.how == "ended" for one in self._left()):
                self._drift("the recording does not have it")
            raise Unplayable
        exchange = self._exchanges[self._asked - 1]
        if self._is_alike or self._asked > 1:
            for fact in request_likeness.compare(exchange, request, self._messages, self._performance.plain):
                self._drift(fact)
        self._messages = len(request.messages)
        return exchange

    def _drift(self, fact: str) -> None:
        number = self._performance.score.number_of(self._attempt)
        self._performance.drifts.asked(self._agent, f"attempt {number}, call {self._asked}", fact)

    async def _play(self, exchange: Exchange) -> None:
        """What happened to the attempt before it asked again."""
        performance, part = self._performance, self._part
        for note in exchange.notes:
            await notes.turn(performance, part, note)
            match note:
                case Call():
                    await notes.make(performance, part, note)
                case More():
                    await self._hand_out(note)
            performance.turns.done(note)
        await notes.settle(performance, part, math.inf)

    async def _hand_out(self, note: More) -> None:
        mail = await notes.hand_out(self._performance, self._part, note)
        if note.call is None:
            await self._post.deliver([_letter(one) for one in mail])
        else:
            self._told[note.call] = mail

    def _serve(self, exchange: Exchange) -> None:
        orders, self._orders = self._orders, []
        left = exchange.calls
        for order in orders:
            wanted = order.wanted
            same = [one for one in left if one.tool == wanted.tool]
            note = next((one for one in same if one.arguments == wanted.arguments), same[0] if same else None)
            if note is None:
                raise Unplayable
            left.remove(note)
            order.answer.set_result(self._answer_of(note))

    def _answer_of(self, note: Call) -> ToolAnswer:
        """As it was, if nobody has answered: that is noted as a drift by then."""
        recorded = ToolAnswer(note.text, note.structured, note.is_error)
        answer = self._part.answers.pop(id(note), recorded)
        mail = self._told.pop(self._performance.score.call_number(note), ())
        return arrivals.told(answer, list(mail)) if mail else answer

    def _answer(self, replied: Replied) -> Answer:
        known = self._performance.likeness
        calls = tuple(model.Call(one.id, one.tool, _written(known.translate(one.arguments))) for one in replied.calls)
        return Answer(known.translate(replied.text), calls, replied.stop, replied.usage)

    def _left(self) -> list[object]:
        turns = self._performance.turns
        return [one for one in self._performance.score.of_attempt(self._attempt) if not turns.is_done(one)]


@dataclass(frozen=True, slots=True)
class _Tools:
    """What the attempt is offered now; what comes of a call is found at the desk."""

    desk: Desk
    tools: Offering

    def offered(self) -> tuple[Tool, ...]:
        return self.tools.offered()

    async def call(self, name: str, arguments: Mapping[str, Json], path: str = "") -> ToolAnswer:
        return await self.desk.call(name)


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _letter(one: Mail) -> Letter:
    return Letter(one.id, one.seq, one.sender, one.body, one.kind, one.priority, one.at)
