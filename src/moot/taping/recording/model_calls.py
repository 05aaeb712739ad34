"""What attempts ask of models, as lines of a tape. What is on the tape already is not written again: the history of a
conversation, the words of the briefing, the answers of tools. Of one attempt no more is kept than a tape should
hold."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from moot.backends.backend import Assignment, Briefing
from moot.core import json
from moot.core.errors import MootError
from moot.models import model
from moot.models.model import Again, Answer, Request
from moot.taping import delta
from moot.taping.recording.recorded_model import Failed
from moot.taping.recording.speech import MOST
from moot.taping.tape import Asked, Line, Progress, Replied, Result, Unanswered, Wanted
from moot.tools.witness import Answered

_AT_ONCE = 64  # calls of one answer whose results can be found again


@dataclass(slots=True)
class _Talk:
    """One attempt, as far as it is on the tape."""

    left: int  # characters
    briefing: Briefing = field(default_factory=Briefing)
    requests: int = 0
    messages: int = 0  # of the last request
    tools: tuple[str, ...] | None = None
    calls: int = 0
    answers: deque[tuple[int, Answered]] = field(default_factory=lambda: deque(maxlen=_AT_ONCE))


class ModelCalls:
    """Writes what is asked and answered. `written` is told of attempts whose text has come onto the tape with that."""

    def __init__(self, write: Callable[[Line], None], written: Callable[[str], None], most: int = MOST) -> None:
        self._write = write
        self._written = written
        self._most = most
        self._talks: dict[str, _Talk] = {}

    def briefed(self, attempt: str, briefing: Briefing) -> None:
        self._talk(attempt).briefing = briefing

    def called(self, attempt: str, answered: Answered) -> None:
        """A call has come onto the tape."""
        talk = self._talk(attempt)
        talk.answers.append((talk.calls, answered))
        talk.calls += 1

    def number(self, attempt: str, answered: Answered) -> int | None:
        """Which of the attempt's calls it was."""
        return next((at for at, one in self._talk(attempt).answers if one is answered), None)

    def over(self, attempt: str) -> None:
        self._talks.pop(attempt, None)

    def asked(self, assignment: Assignment, request: Request) -> int:
        talk = self._talk(assignment.attempt)
        talk.requests += 1
        new, prompt = delta.since(request, talk.messages), talk.briefing.prompt
        is_briefed = talk.messages == 0 and bool(prompt) and new.words.startswith(prompt)
        tools = tuple(one.name for one in request.tools)
        line = Asked(
            attempt=assignment.attempt,
            number=talk.requests,
            model=assignment.manner.model or "scripted",
            results=_results(talk, new.results),
            words=new.words.removeprefix(prompt) if is_briefed else new.words,
            is_briefed=is_briefed,
            system=None if request.system == talk.briefing.system_prompt else request.system,
            tools=None if tools == talk.tools else tools,
            max_tokens=request.max_tokens,
        )
        talk.messages, talk.tools = len(request.messages), tools
        self._put(talk, line, [line.words, line.system or "", *(one.text for one in line.results)])
        return line.number

    def replied(self, assignment: Assignment, number: int, answer: Answer, seconds: float) -> None:
        talk = self._talk(assignment.attempt)
        calls = tuple(Wanted(one.id, one.name, arguments(one)) for one in answer.calls)
        line = Replied(
            assignment.attempt, number, answer.text, calls, answer.stop, answer.usage, _rounded(seconds)
        )  # fmt: skip
        if self._put(talk, line, [answer.text, *(one.arguments for one in answer.calls)]):
            self._written(assignment.attempt)

    def failed(self, assignment: Assignment, number: int, failed: Failed) -> None:
        error = failed.error
        again = error.seconds if isinstance(error, Again) else None
        fact, remedy = (error.reason, "") if isinstance(error, Again) else (error.fact, error.remedy)
        line = Unanswered(
            assignment.attempt, number, error.kind, fact, remedy, failed.text, again, _rounded(failed.seconds)
        )  # fmt: skip
        if self._put(self._talk(assignment.attempt), line, [fact, remedy, failed.text]):
            self._written(assignment.attempt)

    def _put(self, talk: _Talk, line: Asked | Replied | Unanswered, texts: Sequence[str]) -> bool:
        """False if there is no room; then nothing more of this attempt is kept, because nobody could play it."""
        if talk.left < 0:
            return False
        talk.left -= sum(len(one) for one in texts)
        if talk.left < 0:
            told = f"of its requests to models and their answers {self._most:,} characters are kept"
            self._write(Progress(line.attempt, "cut", f"{told}, up to call {line.number}"))
            return False
        self._write(line)
        return True

    def _talk(self, attempt: str) -> _Talk:
        return self._talks.setdefault(attempt, _Talk(self._most))


def arguments(call: model.Call) -> dict[str, json.Json] | str:
    """As the tools would get them; as they were written if that is impossible."""
    try:
        return json.load_object(call.arguments)
    except MootError:
        return call.arguments


def _results(talk: _Talk, results: Sequence[model.Result]) -> tuple[Result, ...]:
    """Each answer on the tape is one result."""
    open, found = list(talk.answers), list[Result]()
    talk.answers.clear()
    for one in results:
        mine = next((got for got in open if _is_answer(one, got[1])), None)
        if mine is None:
            found.append(Result(one.call.name, None, one.text, one.is_error))
            continue
        open.remove(mine)
        found.append(Result(one.call.name, mine[0], one.text.removeprefix(mine[1].answer.text), one.is_error))
    return tuple(found)


def _is_answer(result: model.Result, answered: Answered) -> bool:
    text = answered.answer.text
    return answered.tool == result.call.name and bool(text) and result.text.startswith(text)


def _rounded(seconds: float) -> float:
    return round(max(seconds, 0.0), 3)
