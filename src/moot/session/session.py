"""One agent's session: it is asked, its calls are made, it is told what came of them, until there is a report.

A turn is a record that goes through a few steps. Each step either adds to it or ends the session with a report; no
limit and no failure ends it without one.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from moot.core import text
from moot.core.json import Json
from moot.core.tree_path import TreePath, Trigger
from moot.models import keeping, reserving
from moot.models.model import Answer, ModelFailed, Request, Result, Results
from moot.session import acting, asking, reports
from moot.session.acting import Hands
from moot.session.errand import Errand
from moot.session.events import Called, Warned
from moot.session.handles import Handles
from moot.session.hearing import Heard
from moot.session.journal import OverBudget
from moot.session.pages import Pages
from moot.session.question import Question
from moot.session.report import Failure, Report
from moot.session.source import Outcome, Source
from moot.session.stage import Stage
from moot.session.term import TimeIsUp
from moot.session.transcript import Transcript

_IN_VAIN = ("refusal", "context")  # how answers end of which no call is made
_PASSING = ("stopped", "budget")  # why a turn was the last, which whoever resumes may have changed
_MOST_CUTS = 5  # answers in a row that end in the middle
_MOST_REMINDERS = 3  # that a report has to have a certain shape
_ROOM = 8_000  # tokens that are kept free for the last turn
_GO_ON = "Your answer was cut off because it was too long. Go on exactly where it stopped."
_LAST = "This is your last turn ({why}). Make no further calls: give your final report now, with what you have."
_SHUTDOWN = "moot was shut down"
_MORE = "There is more to spend after all: you may go on, and make calls again."


@dataclass(frozen=True, slots=True)
class Last:
    """Why nothing is left but to come to an end."""

    because: str
    failure: Failure  # if that brings no report


@dataclass(slots=True)
class Turn:
    """What a turn has come to so far."""

    number: int
    path: TreePath
    facts: dict[str, Json] = field(default_factory=dict[str, Json])
    last: Last | None = None
    answer: Answer = field(default_factory=Answer)
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    report: Report | None = None


class Session:
    """Run it once. Whoever has reported can be asked again: it goes on where it stopped."""

    def __init__(
        self, errand: Errand, stage: Stage, sources: Sequence[Source] = (), *, is_followed: bool = False
    ) -> None:
        self.errand = errand
        self.pages = errand.pages or Pages(stage.journal)
        self._is_followed = is_followed  # by somebody who writes down how this one ended
        self._stage = stage
        self._agent = errand.agent
        self._handles = Handles()
        own = (*sources, *stage.sources(errand.agent, errand.path), self._handles)
        self._hands = Hands(own, errand.agent.limits.calls)
        self._transcript = Transcript()
        self._turns = 0
        self._answered_at: datetime | None = None
        self._asked = 0  # how often again
        self._cuts = 0
        self._reminders = 0
        self._text = ""  # what was said since the last call, which is the answer if nothing follows
        self._must_end = ""  # why, if it must
        self._called_back: Heard | None = None  # by what came when it was done

    @property
    def turns(self) -> int:
        return self._turns

    @property
    def answered_at(self) -> datetime | None:
        """When its model answered last; the same in every execution."""
        return self._answered_at

    @property
    def room(self) -> int:
        """Letters that can still be told."""
        tokens = self._room()
        return sys.maxsize if tokens is None else tokens * reserving.LETTERS

    @property
    def turns_left(self) -> int:
        return max(self._agent.limits.turns - self._turns, 0)

    async def run(self) -> Report:
        errand = self.errand
        self.pages.begin_session(errand.path, self._agent.name, errand.trigger, {})
        return await self._told(errand.prompt, errand.path)

    async def ask_again(self, trigger: Trigger, words: Callable[[], Heard]) -> Report:
        """It hears these words, and answers them with another report. In a repetition they are what they were."""
        self._asked += 1
        self.errand.term.begin_again()
        path = self.errand.path.asked_again(self._asked)
        known = self._stage.journal.known(path)
        if known is not None:
            self.errand.hearing.was_told(known.facts)
            return await self._told(str(known.facts["text"]), path)
        heard = words()
        self.pages.begin_session(path, self._agent.name, trigger, {**heard.facts, "text": heard.text})
        return await self._told(heard.text, path)

    def end_soon(self, why: str) -> None:
        """Its next turn is its last."""
        self._must_end = self._must_end or why

    async def _told(self, words: str, path: str) -> Report:
        if self.errand.is_settled and (ended := self.pages.failure(path)) is not None:
            await self._say_again()
            return ended
        self._transcript.hear(words)
        self._text = ""
        try:
            async with self.errand.term.holds():
                report = await self._listening(path)
        except TimeIsUp as error:
            report = self._failed("timeout", str(error))
        self.pages.end_session(path, report, self.errand.path)
        if report.failure is not None or not self._is_followed:
            await self.pages.turn()
        return report

    async def _say_again(self) -> None:
        """What others have heard of it before it failed, they hear again. Nothing else of it is done a second time."""
        while (known := self._stage.journal.known(self.errand.path.turn(self._turns + 1).request())) is not None:
            self._turns += 1
            answer = keeping.load(known.result) if known.state == "done" else Answer()
            self._answered_at = answer.at
            if answer.stop in _IN_VAIN:
                continue
            is_last = bool(known.facts.get("last"))
            path = self.errand.path.turn(self._turns)
            for one in self._hands.plan(answer.calls, path, is_last=is_last, is_cut=answer.stop == "max_tokens"):
                if one.source is not None and one.arguments is not None and not one.has_effect:
                    await one.source.call(one.call.name, one.arguments, one.path)

    async def _listening(self, path: str) -> Report:
        hearing = self.errand.hearing
        hearing.begin()
        try:
            while True:
                turn = await self._turn()
                if turn.report is not None and (turn.report.failure or not await self._is_called_back(path)):
                    return turn.report
        finally:
            await hearing.stop()

    async def _turn(self) -> Turn:
        self._turns += 1
        turn = Turn(self._turns, self.errand.path.turn(self._turns))
        for step in (self._heed, self._hear, self._guard, self._ask, self._act, self._judge):
            await step(turn)
            if turn.report is not None:
                break
        return turn

    async def _heed(self, turn: Turn) -> None:
        """Nothing is begun any more when moot is shut down; what is on record goes on."""
        known = self._stage.journal.known(turn.path.request())
        if (known is None or known.state != "done") and await self._stage.asked() == "shutdown":
            turn.report = self._failed("shutdown", _SHUTDOWN)

    async def _hear(self, turn: Turn) -> None:
        """What has come since the last turn; in a repetition, what had come then."""
        known = self._stage.journal.known(turn.path.request())
        if known is not None:
            turn.facts = dict(known.facts)
            heard = cast(Mapping[str, Json], turn.facts.get("heard") or {})
            if heard:
                self.errand.hearing.was_told(heard)
                self._transcript.hear(str(heard["text"]))
        elif (new := self._called_back or self.errand.hearing.take()) is not None:
            self._transcript.hear(new.text)
            turn.facts["heard"] = {**new.facts, "text": new.text}
            if self._called_back is not None:
                turn.facts["called_back"] = True
                self._text = ""
        self._called_back = None

    async def _guard(self, turn: Turn) -> None:
        """Whether this must be the last turn, which it is told."""
        limits = self._agent.limits
        if turn.number > limits.turns:
            turn.report = self._failed("limit", f"it reached its limit of {limits.turns} turns")
            return
        known = self._stage.journal.known(turn.path.request())
        is_new = known is None or known.state != "done"
        reason = turn.facts.get("reason", "limit")
        if "last" in turn.facts and not (is_new and reason in _PASSING):
            turn.last = Last(str(turn.facts["last"]), cast(Failure, reason))
        elif is_new:
            turn.facts.pop("last", None)
            turn.last = await self._why_last(turn.number)
        if turn.last is not None:
            turn.facts |= {"last": turn.last.because, "reason": turn.last.failure}
            self._transcript.hear(_LAST.format(why=turn.last.because))

    async def _why_last(self, number: int) -> Last | None:
        limits = self._agent.limits
        if self._must_end:
            return Last(self._must_end, "limit")
        if self._stage.ending:
            return Last(self._stage.ending, "budget")
        if await self._stage.asked() == "stop":
            return Last("moot was asked to stop", "stopped")
        if limits.context_tokens and self._told_tokens() + _ROOM > limits.context_tokens:
            return Last("the conversation is nearly as long as the model can hold", "limit")
        return Last(f"the limit of {text.counted(limits.turns, 'turn')}", "limit") if number == limits.turns else None

    async def _ask(self, turn: Turn) -> None:
        request = Request(
            self._transcript.messages(),
            self._agent.prompt,
            self._hands.specs(is_last=turn.last is not None),
            self._agent.limits.output_tokens,
            temperature=self._agent.temperature,
            letters=self._transcript.letters,
        )
        try:
            turn.answer = await asking.answer(
                self._agent, Question(turn.path.request(), request, turn.facts), self._stage, self.pages
            )
        except ModelFailed as error:
            failed = self._failed(error.kind, str(error))
            turn.report = replace(failed, until=error.until, provider=error.provider)
        except OverBudget as error:
            turn.report = self._failed("budget", str(error))
        else:
            self._answered_at = turn.answer.at
            self._transcript.add(turn.answer)

    async def _act(self, turn: Turn) -> None:
        answer = turn.answer
        if not answer.calls or answer.stop in _IN_VAIN:
            return
        is_cut, is_last = answer.stop == "max_tokens", turn.last is not None
        planned = self._hands.plan(answer.calls, turn.path, is_last=is_last, is_cut=is_cut)
        is_new = any(one.is_recorded and self._stage.journal.known(one.path) is None for one in planned)
        if is_new and await self._stage.asked() == "shutdown":
            turn.report = self._failed("shutdown", _SHUTDOWN)
            return
        leading = [one for one in planned if one.leads_on]
        for one in leading:  # before what they do
            self._stage.tell(self._agent.name, Called(one.call.name, is_error=False))
        turn.outcomes = await acting.make(self._agent.name, planned, self._stage.journal, self.pages)
        results: list[Result] = []
        room = self._room()
        for one, outcome in zip(planned, turn.outcomes, strict=True):
            text = self._handles.shortened(outcome.text, one.path, room)
            room = None if room is None else max(room - reserving.letters_of(text) // reserving.LETTERS, 0)
            results.append(Result(one.call, text, outcome.is_error))
            if outcome.is_error or one not in leading:
                why = outcome.text if outcome.is_error else ""
                self._stage.tell(self._agent.name, Called(one.call.name, outcome.is_error, why))
        self._transcript.add(Results(tuple(results)))
        self._text = ""

    def _room(self) -> int | None:
        """Tokens that a result may have; None: as many as it likes."""
        most = self._agent.limits.context_tokens
        return None if most is None else max(most - self._told_tokens() - _ROOM, 0)

    def _told_tokens(self) -> int:
        """What the model is told with every request, and what was said."""
        always = reserving.letters_of(self._agent.prompt) + sum(one.letters for one in self._hands.specs(is_last=False))
        return self._transcript.tokens + always // reserving.LETTERS

    async def _judge(self, turn: Turn) -> None:
        """What follows from the way the answer ends; nothing if it is simply the next turn."""
        answer = turn.answer
        self._cuts = self._cuts + 1 if answer.stop == "max_tokens" else 0
        turn.report = next((one.report for one in turn.outcomes if one.report is not None), None)
        if turn.report is not None:
            return
        if answer.stop == "refusal":
            said = f": {answer.text}" if answer.text else ""
            turn.report = self._failed("refused", f"the model refused to go on{said}")
        elif answer.stop == "context":
            turn.report = self._failed("limit", "the conversation has outgrown what the model can hold")
        elif not answer.calls:
            self._text += answer.text
            turn.report = await self._said_last(answer)
        if turn.report is None and turn.last is not None:
            turn.report = self._ended_without_report(turn.last)

    def _ended_without_report(self, last: Last) -> Report | None:
        if last.failure == "budget" and not self._stage.ending:
            self._transcript.hear(_MORE)  # in a repetition, by whoever has given the run a larger budget
            return None
        return self._failed(last.failure, f"it gave no report in its last turn ({last.because})")

    async def _said_last(self, answer: Answer) -> Report | None:
        """An answer without calls is the report, unless it is not complete or has the wrong shape."""
        match answer.stop:
            case "max_tokens" if self._cuts <= _MOST_CUTS:
                self._transcript.hear(_GO_ON)
                self._warn("An answer was too long and was cut off; the model is asked to go on.")
                return None
            case "max_tokens":
                return self._failed("limit", f"its answer was cut off {self._cuts} times in a row")
            case "pause":
                return None
            case _:
                if answer.stop == "other":
                    self._warn("The model ended without saying why.")
                return await self._shaped()

    async def _shaped(self) -> Report | None:
        is_missing = not self._text.strip() and not self._agent.may_be_silent
        fault = "it is empty" if is_missing else await reports.fault(self._text, self._agent.output)
        if fault is None:
            return Report(self._text, self._agent.name)
        self._reminders += 1
        if self._reminders > _MOST_REMINDERS:
            return self._failed("invalid", f"its report has the wrong shape: {fault}")
        remedy = "Call final_report with a report of the right shape." if self._agent.reports else "Answer in words."
        self._transcript.hear(f"That is no report: {fault}. {remedy}")
        self._text = ""
        return None

    async def _is_called_back(self, path: str) -> bool:
        """Whoever is done, and has mail, is not done; but who is done on record stays so, as others rely on it."""
        known = self._stage.journal.known(self.errand.path.turn(self._turns + 1).request())
        if known is not None:
            return bool(known.facts.get("called_back"))
        ended = self._stage.journal.known(path)
        if ended is not None and ended.state == "done":
            return False
        hearing = self.errand.hearing
        if not hearing.calls_back:
            return False
        self._called_back = hearing.take() or await hearing.stop()
        if self._called_back is None:
            return False
        hearing.begin()
        return True

    def _warn(self, text: str) -> None:
        self._stage.tell(self._agent.name, Warned(text))

    def _failed(self, failure: Failure, error: str) -> Report:
        return Report(self._text, self._agent.name, failure, error)
