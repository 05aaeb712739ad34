"""What attempts ask of models, as lines of a tape. What is on the tape already is not written again: the history of a
conversation, the words of the briefing, the answers of tools. Of one attempt no more is kept than a tape should hold.

What was answered is written when it is on record: only then is it counted, and may others be refused because of it.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.backends.backend import Assignment, Briefing
from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.tree_path import TreePath
from moot.models import model
from moot.models.model import Again, Answer, ModelFailed
from moot.runner.api_agents import Asking
from moot.runner.refusals import Noted
from moot.session.turn import Facts
from moot.taping import delta
from moot.taping.recording.recorded_model import Failed, Place
from moot.taping.recording.speech import MOST
from moot.taping.tape import SCRIPTED, Asked, Heard, Line, Progress, Refused, Replied, Result, Unanswered, Wanted
from moot.tools.witness import Answered

_AT_ONCE = 64  # calls of one answer whose results can be found again


@dataclass(slots=True)
class _Talk:
    """One session, as far as it is on the tape."""

    system: str
    requests: int = 0
    messages: int = 0  # of the last request
    tools: tuple[str, ...] | None = None
    answers: deque[tuple[int, Answered]] = field(default_factory=lambda: deque(maxlen=_AT_ONCE))


@dataclass(slots=True)
class _Attempt:
    """A tree of sessions, which go on at once."""

    left: int  # characters
    briefing: Briefing = field(default_factory=Briefing)
    calls: int = 0
    talks: dict[str, _Talk] = field(default_factory=dict[str, _Talk])  # by path
    ends: list[Replied | Unanswered] = field(default_factory=list[Replied | Unanswered])  # that are not on record yet

    def talk(self, path: str | None) -> _Talk:
        """That of a request or a call; those of a program have no path."""
        return self.talks.setdefault(TreePath(path or "").session, _Talk(self.briefing.system_prompt))


class ModelCalls:
    """Writes what is asked and answered. `written` is told of attempts whose text has come onto the tape with that."""

    def __init__(self, write: Callable[[Line], None], written: Callable[[str], None], most: int = MOST) -> None:
        self._write = write
        self._written = written
        self._most = most
        self._attempts: dict[str, _Attempt] = {}

    def briefed(self, attempt: str, briefing: Briefing) -> None:
        self._attempt(attempt).briefing = briefing

    def called(self, attempt: str, answered: Answered) -> None:
        """A call comes onto the tape."""
        found = self._attempt(attempt)
        turn = TreePath(answered.path or "").above
        self._settle(attempt, [one.path for one in found.ends if TreePath(one.path).above == turn])
        found.talk(answered.path).answers.append((found.calls, answered))
        found.calls += 1

    def number(self, attempt: str, answered: Answered) -> int | None:
        """Which of the attempt's calls it was."""
        talk = self._attempt(attempt).talk(answered.path)
        return next((at for at, one in talk.answers if one is answered), None)

    def noted(self, attempt: str, noted: Noted) -> None:
        """Something is on record."""
        self._settle(attempt, noted.answered, noted.seq)
        if (refused := noted.refused) is not None:
            error = refused.error
            kind = "rate_limit" if isinstance(error, ModelFailed) else "budget"
            name, heard = refused.model or SCRIPTED, _heard(refused.facts)
            line = Refused(attempt, refused.path, name, kind, error.fact, refused.reached, noted.seq, heard)
            self._put(line, [error.fact, heard.text if heard else ""])

    def over(self, attempt: str) -> None:
        self._settle(attempt, [one.path for one in self._attempt(attempt).ends])
        self._attempts.pop(attempt, None)

    def _settle(self, attempt: str, paths: Sequence[str], seq: int | None = None) -> None:
        found = self._attempt(attempt)
        ends, found.ends = found.ends, [one for one in found.ends if one.path not in paths]
        for one in ends:
            if one.path in paths:
                self._write(replace(one, seq=seq))

    def asked(self, assignment: Assignment, asking: Asking) -> Place:
        question = asking.question
        attempt, request = self._attempt(assignment.attempt), question.request
        talk = attempt.talk(question.path)
        talk.requests += 1
        new, prompt = delta.since(request, talk.messages), attempt.briefing.prompt
        is_briefed = talk.messages == 0 and bool(prompt) and new.words.startswith(prompt)
        words, heard = new.words.removeprefix(prompt) if is_briefed else new.words, _heard(question.facts)
        words, _, more_words = (words, "", "") if heard is None else words.partition(heard.text.strip())
        tools = tuple(one.name for one in request.tools)
        line = Asked(
            attempt=assignment.attempt,
            agent=asking.agent.name,
            path=question.path,
            number=talk.requests,
            model=asking.model or SCRIPTED,
            results=_results(talk, new.results),
            words=words,
            is_briefed=is_briefed,
            heard=heard,
            more_words=more_words,
            system=None if request.system == talk.system else request.system,
            tools=None if tools == talk.tools else tools,
            max_tokens=request.max_tokens,
        )
        talk.messages, talk.system, talk.tools = len(request.messages), request.system, tools
        self._put(line, [new.words, line.system or "", *(one.text for one in line.results)])
        return Place(line.attempt, line.path, line.number)

    def replied(self, place: Place, answer: Answer, seconds: float) -> None:
        calls = tuple(Wanted(one.id, one.name, arguments(one)) for one in answer.calls)
        line = Replied(
            place.attempt, place.path, place.number, answer.text, calls, answer.stop, answer.usage, _rounded(seconds)
        )
        self._end(line, [answer.text, *(one.arguments for one in answer.calls)])

    def failed(self, place: Place, failed: Failed) -> None:
        error = failed.error
        again = error.seconds if isinstance(error, Again) else None
        fact, remedy = (error.reason, "") if isinstance(error, Again) else (error.fact, error.remedy)
        line = Unanswered(
            place.attempt, place.path, place.number, error.kind, fact, remedy, failed.text, again,
            _rounded(failed.seconds), error.used,
        )  # fmt: skip
        self._end(line, [fact, remedy, failed.text])

    def _end(self, line: Replied | Unanswered, texts: Sequence[str]) -> None:
        if self._has_room(line, texts):
            self._attempt(line.attempt).ends.append(line)
            self._written(line.attempt)

    def _put(self, line: Asked | Refused, texts: Sequence[str]) -> None:
        if self._has_room(line, texts):
            self._write(line)

    def _has_room(self, line: Asked | Replied | Unanswered | Refused, texts: Sequence[str]) -> bool:
        """If there is none, nothing more of this attempt is kept, because nobody could play it."""
        attempt = self._attempt(line.attempt)
        if attempt.left < 0:
            return False
        attempt.left -= sum(len(one) for one in texts)
        if attempt.left < 0:
            told = f"of its requests to models and their answers {self._most:,} characters are kept"
            last = attempt.talk(line.path).requests
            self._write(Progress(line.attempt, "cut", f"{told}, up to call {last}"))
            return False
        return True

    def _attempt(self, attempt: str) -> _Attempt:
        return self._attempts.setdefault(attempt, _Attempt(self._most))


def _heard(facts: Mapping[str, Json]) -> Heard | None:
    found = Facts.of(facts)
    return None if found.heard is None else Heard(found.heard.text, found.heard.facts, found.is_called_back)


def arguments(call: model.Call) -> dict[str, Json] | str:
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
