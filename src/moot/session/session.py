"""One agent and one model: it is asked, its calls are made, it is told what came of them, until it has ended."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from moot.core import tool_schemas
from moot.core.tool import Tool, Toolbox
from moot.models.model import Again, Answer, Message, Model, ModelFailed, Piece, Request, Results, Said, ToolSpec
from moot.session import calling
from moot.session.events import Called, Event, Failure, Finished, Used, Warned, Wrote
from moot.session.incoming import Incoming, More

_MOST_CUTS = 5  # answers in a row that end in the middle
_GO_ON = "Your answer was cut off because it was too long. Go on exactly where it stopped."


@dataclass(frozen=True, slots=True)
class Setup:
    """What a session starts with. The tools are those that its toolbox will let it call."""

    prompt: str
    system: str = ""
    tools: tuple[Tool, ...] = ()
    max_turns: int = 100  # requests; a session that needs more goes round in circles
    max_tokens: int | None = None  # of one answer; None: what the model can


class Session:
    """A conversation that is under way. Run it once."""

    def __init__(self, model: Model, setup: Setup, toolbox: Toolbox, more: More | None = None) -> None:
        self._model = model
        self._setup = setup
        self._toolbox = toolbox
        self._incoming = Incoming(more)
        self._tools = tuple(ToolSpec(one.name, one.words, tool_schemas.arguments(one)) for one in setup.tools)
        self._messages: list[Message] = [Said(setup.prompt)]
        self._turns = 0
        self._cuts = 0
        self._text = ""  # what was said since the last call, which is the answer if nothing follows

    async def run(self) -> AsyncGenerator[Event]:
        """Events, the last of which is Finished. Cancelling the iteration ends what is under way."""
        finished: Finished | None = None
        self._incoming.begin()
        try:
            while finished is None:
                self._hear(self._incoming.take())
                async with aclosing(self._turn()) as turn:
                    async for event in turn:
                        if isinstance(event, Finished):
                            finished = await self._unless_mail(event)
                        else:
                            yield event
        finally:
            await self._incoming.stop()
        yield finished

    async def _turn(self) -> AsyncGenerator[Event]:
        if self._turns >= self._setup.max_turns:
            yield self._failed("limit", f"it reached its limit of {self._turns} turns")
            return
        self._turns += 1
        answer = Answer()
        try:
            async with aclosing(self._model.ask(self._request())) as asked:
                async for progress in asked:
                    match progress:
                        case Piece(text):
                            yield Wrote(text)
                        case Again():
                            yield Warned(f"{progress.reason} Trying again in {progress.seconds:.0f} s.")
                        case Answer():
                            answer = progress
        except ModelFailed as error:
            yield Finished(self._text, error.kind, str(error), error.until)
            return
        self._messages.append(answer)
        yield Used(answer.usage)
        async with aclosing(self._go_on(answer)) as following:
            async for event in following:
                yield event

    def _request(self) -> Request:
        return Request(tuple(self._messages), self._setup.system, self._tools, self._setup.max_tokens)

    async def _go_on(self, answer: Answer) -> AsyncGenerator[Event]:
        """What follows from the way an answer ends; nothing if it is simply the next turn."""
        self._cuts = self._cuts + 1 if answer.stop == "max_tokens" else 0
        if answer.stop == "refusal":
            said = f": {answer.text}" if answer.text else ""
            yield self._failed("refused", f"the model refused to go on{said}")
        elif answer.stop == "context":
            yield self._failed("limit", "the conversation has outgrown what the model can hold")
        elif answer.calls:
            results = await calling.make(answer.calls, self._toolbox, is_cut=answer.stop == "max_tokens")
            self._messages.append(Results(results))
            self._text = ""
            for one in results:
                yield Called(one.call.name, one.is_error)
        else:
            self._text += answer.text
            if answer.stop == "max_tokens":
                yield self._cut()
            elif answer.stop != "pause":
                if answer.stop == "other":
                    yield Warned("The model ended without saying why.")
                yield Finished(self._text)

    def _cut(self) -> Event:
        """It is told to go on, unless it has been too often, which is said."""
        if self._cuts <= _MOST_CUTS:
            self._hear(_GO_ON)
            return Warned("An answer was too long and was cut off; the model is asked to go on.")
        return self._failed("limit", f"its answer was cut off {self._cuts} times in a row")

    async def _unless_mail(self, finished: Finished) -> Finished | None:
        """Whoever is done, and has mail, is not done."""
        if finished.failure is not None:
            return finished
        text = self._incoming.take() or await self._incoming.stop()
        if not text:
            return finished
        self._hear(text)
        self._text = ""
        self._incoming.begin()
        return None

    def _hear(self, text: str) -> None:
        """Words go with the results of calls if there are any: between a call and its result nothing may stand."""
        if not text:
            return
        last = self._messages[-1]
        if isinstance(last, Results):
            self._messages[-1] = Results(last.results, f"{last.text}\n\n{text}".strip())
        elif isinstance(last, Said):
            self._messages[-1] = Said(f"{last.text}\n\n{text}")
        else:
            self._messages.append(Said(text))

    def _failed(self, failure: Failure, error: str) -> Finished:
        return Finished(self._text, failure, error)
