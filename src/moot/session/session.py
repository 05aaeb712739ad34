"""One agent's session: it is asked, its calls are made, it is told what came of them, until there is a report.

A turn is a record that goes through a few steps. Each step either adds to it or ends the session with a report; no
limit and no failure ends it without one.
"""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime

from moot.core import text
from moot.core.records import replace
from moot.core.tree_path import TreePath, Trigger
from moot.models import reserving
from moot.models.model import ModelFailed, Request, Result, Results
from moot.session import acting, asking, past
from moot.session.acting import Hands, Planned
from moot.session.asking import Asker
from moot.session.errand import Errand
from moot.session.events import Called
from moot.session.handles import Handles
from moot.session.hearing import Heard
from moot.session.journal import OverBudget, Recalled
from moot.session.judging import Judge
from moot.session.pages import Pages
from moot.session.past import Past
from moot.session.report import Report
from moot.session.source import Source
from moot.session.stage import Question, Stage
from moot.session.term import TimeIsUp
from moot.session.transcript import Transcript
from moot.session.turn import Facts, Last, Turn

_IN_VAIN = ("refusal", "context")  # how answers end of which no call is made
_PASSING = ("stopped", "budget")  # why a turn was the last, which whoever resumes may have changed
_ROOM = 8_000  # tokens that are kept free for the last turn
_LAST = "This is your last turn ({why}). Make no further calls: give your final report now, with what you have."
_SHUTDOWN = "moot was shut down"


class Session:
    """Run it once. Whoever has reported can be asked again: it goes on where it stopped."""

    def __init__(
        self, errand: Errand, stage: Stage, sources: Sequence[Source] = (), *, is_followed: bool = False
    ) -> None:
        self.errand = errand
        self.pages = errand.pages or Pages(stage.journal)
        self.turns = 0
        self.answered_at: datetime | None = None  # its model, the last time; the same in every execution
        self._is_followed = is_followed  # by somebody who writes down how this one ended, and goes on listening
        self._stage = stage
        self._agent = errand.agent
        self._handles = Handles()
        own = (*sources, *stage.sources(errand.agent, errand.path), self._handles)
        self._hands = Hands(own, errand.agent.limits.calls)
        self._always = self._prompt_letters = reserving.letters_of(errand.agent.prompt)  # told with every request
        self._transcript = Transcript()
        self._judging = Judge(errand.agent, stage, self._transcript)
        self._past = Past(stage.journal, errand.path)
        self._asker = Asker(errand.agent, stage, self.pages, errand.term)
        self._asked = 0  # how often again
        self._must_end = ""  # why, if it must
        self._called_back: Heard | None = None  # by what came when it was done

    @property
    def room(self) -> int:
        """Letters that can still be told."""
        tokens = self._room()
        return sys.maxsize if tokens is None else tokens * reserving.LETTERS

    @property
    def turns_left(self) -> int:
        return max(self._agent.limits.turns - self.turns, 0)

    async def run(self) -> Report:
        errand = self.errand
        self.pages.begin_session(errand.path, self._agent.name, errand.trigger, {})
        return await self._told(errand.prompt, errand.path)

    async def ask_again(self, trigger: Trigger, words: Callable[[], Heard]) -> Report:
        """It hears these words, and answers them with another report. In a repetition they are what they were."""
        self._asked += 1
        self.errand.term.begin_again()
        path = self.errand.path.asked_again(self._asked)
        before = self._past.words(self._asked)
        if before is not None:
            self.errand.hearing.was_told(before.facts)
        heard = before or words()
        self.pages.begin_session(path, self._agent.name, trigger, heard.plain())
        return await self._told(heard.text, path)

    def end_soon(self, why: str) -> None:
        """Its next turn is its last."""
        self._must_end = self._must_end or why

    async def _told(self, words: str, path: TreePath) -> Report:
        if self.errand.is_settled and (ended := self._past.failure(path)) is not None:
            await self._say_again()
            return ended
        self._transcript.hear(words)
        self._judging.text = ""
        try:
            async with self.errand.term.holds():
                report = await self._listening(path)
        except TimeIsUp as error:
            report = self._judging.failed("timeout", str(error))
        self.pages.end_session(path, report, self.errand.path)
        if report.failure is not None or not self._is_followed:
            await self.pages.turn()
        return report

    async def _say_again(self) -> None:
        """What others have heard of it before it failed, they hear again. Nothing else of it is done a second time."""
        while (turn := self._past.turn(self.turns + 1)).known is not None:
            self.turns += 1
            turn.answer = past.answer(turn.known)
            turn.offer = self._hands.offer(is_last=turn.facts.last is not None)
            self.answered_at = turn.answer.at
            for one in self._planned(turn):
                if one.source is not None and one.arguments is not None and not one.has_effect:
                    await one.source.call(one.call.name, one.arguments, one.path)

    async def _listening(self, path: TreePath) -> Report:
        hearing, is_passed_on = self.errand.hearing, False
        hearing.begin()
        try:
            while True:
                turn = await self._turn()
                if turn.report is not None and (turn.report.failure or not await self._is_called_back(path)):
                    is_passed_on = self._is_followed and turn.report.failure is None
                    return turn.report
        finally:
            if not is_passed_on:
                await hearing.stop()

    async def _turn(self) -> Turn:
        self.turns += 1
        turn = self._past.turn(self.turns)
        turn.offer = self._hands.offer(is_last=False)
        self._always = self._prompt_letters + turn.offer.letters
        for step in (self._heed, self._hear, self._guard, self._ask, self._act, self._judge):
            await step(turn)
            if turn.report is not None:
                break
        return turn

    async def _heed(self, turn: Turn) -> None:
        """Nothing is begun any more when moot is shut down; what is on record goes on."""
        if not turn.is_answered and await self._stage.asked() == "shutdown":
            turn.report = self._judging.failed("shutdown", _SHUTDOWN)

    async def _hear(self, turn: Turn) -> None:
        """What has come since the last turn; in a repetition, what had come then."""
        if turn.known is None:
            heard = self._called_back or self.errand.hearing.take()
            turn.facts = Facts(heard, is_called_back=self._called_back is not None)
        elif turn.facts.heard is not None:
            self.errand.hearing.was_told(turn.facts.heard.facts)
        if turn.facts.heard is not None:
            self._transcript.hear(turn.facts.heard.text)
        if turn.facts.is_called_back:
            self._judging.text = ""
        self._called_back = None

    async def _guard(self, turn: Turn) -> None:
        """Whether this must be the last turn, which it is told."""
        limits = self._agent.limits
        if turn.number > limits.turns:
            turn.report = self._judging.failed("limit", f"it reached its limit of {limits.turns} turns")
            return
        last = turn.facts.last
        if not turn.is_answered and (most := limits.context_tokens) and (told := self._told_tokens()) > most:
            fact = f"what it is told is longer than its model can hold (about {told:,} tokens of {most:,})"
            turn.report = self._judging.failed("limit", fact)
            return
        if not turn.is_answered and (last is None or last.failure in _PASSING):
            last = await self._why_last(turn.number)
            turn.facts = replace(turn.facts, last=last)
        if last is not None:
            self._transcript.hear(_LAST.format(why=last.because))

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
        """Who learns only now that it is to come to its end, is told so first."""
        while turn.report is None:
            try:
                await self._ask_model(turn)
            except Recalled:
                await self._heed(turn)
                if turn.report is None:
                    await self._guard(turn)
            else:
                return

    async def _ask_model(self, turn: Turn) -> None:
        if is_last := turn.facts.last is not None:
            turn.offer = self._hands.offer(is_last=True)
        offer = turn.offer
        request = Request(
            self._transcript.messages(),
            self._agent.prompt,
            offer.specs,
            self._agent.limits.output_tokens,
            temperature=self._agent.temperature,
            letters=self._prompt_letters + offer.letters + self._transcript.letters,
        )
        question = Question(turn.request, request, turn.facts.plain())
        try:
            turn.answer = await asking.answer(self._asker, question, is_last=is_last)
        except ModelFailed as error:
            failed = self._judging.failed(error.kind, str(error))
            turn.report = replace(failed, until=error.until, provider=error.provider)
        except asking.ShutDown:
            turn.report = self._judging.failed("shutdown", _SHUTDOWN)
        except OverBudget as error:
            turn.report = self._judging.failed("budget", str(error))
        else:
            self.answered_at = turn.answer.at
            self._transcript.add(turn.answer)

    async def _act(self, turn: Turn) -> None:
        planned = self._planned(turn)
        if not planned:
            return
        is_new = any(one.is_recorded and self._stage.journal.known(one.path) is None for one in planned)
        if is_new and await self._stage.asked() == "shutdown":
            turn.report = self._judging.failed("shutdown", _SHUTDOWN)
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
        self._judging.text = ""

    def _planned(self, turn: Turn) -> list[Planned]:
        answer = turn.answer
        if not answer.calls or answer.stop in _IN_VAIN:
            return []
        return self._hands.plan(answer.calls, turn.path, turn.offer, is_cut=answer.stop == "max_tokens")

    def _room(self) -> int | None:
        """Tokens that a result may have; None: as many as it likes."""
        most = self._agent.limits.context_tokens
        return None if most is None else max(most - self._told_tokens() - _ROOM, 0)

    def _told_tokens(self) -> int:
        """What the model is told with every request, and what was said."""
        return self._transcript.tokens + self._always // reserving.LETTERS

    async def _judge(self, turn: Turn) -> None:
        turn.report = await self._judging.report(turn)

    async def _is_called_back(self, path: TreePath) -> bool:
        """Whoever is done, and has mail, is not done; but who is done on record stays so, as others rely on it."""
        following = self._past.facts(self.turns + 1)
        if following is not None:
            return following.is_called_back
        hearing = self.errand.hearing
        if self._past.has_reported(path) or not hearing.calls_back:
            return False
        self._called_back = hearing.take() or (None if self._is_followed else await hearing.stop())
        if self._called_back is None:
            return False
        hearing.begin()
        return True
