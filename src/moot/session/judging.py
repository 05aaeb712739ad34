"""Judges answers: whether one is the report of its session, or what the model is told instead."""

from moot.models.model import Answer
from moot.session import reports
from moot.session.agent import Agent
from moot.session.events import Warned
from moot.session.report import Failure, Report
from moot.session.stage import Stage
from moot.session.transcript import Transcript
from moot.session.turn import Last, Turn

_MOST_CUTS = 5  # answers in a row that end in the middle
_MOST_REMINDERS = 3  # that a report has to have a certain shape
_GO_ON = "Your answer was cut off because it was too long. Go on exactly where it stopped."
_MORE = "There is more to spend after all: you may go on, and make calls again."


class Judge:
    """Of one session."""

    def __init__(self, agent: Agent, stage: Stage, transcript: Transcript) -> None:
        self.text = ""  # what was said since the last call, which is the answer if nothing follows
        self._agent = agent
        self._stage = stage
        self._transcript = transcript
        self._cuts = 0
        self._reminders = 0

    def failed(self, failure: Failure, error: str) -> Report:
        return Report(self.text, self._agent.name, failure, error)

    async def report(self, turn: Turn) -> Report | None:
        """What follows from the way the answer ends; nothing if it is simply the next turn."""
        answer = turn.answer
        self._cuts = self._cuts + 1 if answer.stop == "max_tokens" else 0
        found = next((one.report for one in turn.outcomes if one.report is not None), None)
        if found is not None:
            return found
        if answer.stop == "refusal":
            said = f": {answer.text}" if answer.text else ""
            return self.failed("refused", f"the model refused to go on{said}")
        if answer.stop == "context":
            return self.failed("limit", "the conversation has outgrown what the model can hold")
        if not answer.calls:
            self.text += answer.text
            found = await self._said_last(answer)
        return self._ended_without_report(turn.facts.last) if found is None and turn.facts.last is not None else found

    def _ended_without_report(self, last: Last) -> Report | None:
        if last.failure == "budget" and not self._stage.ending:
            self._transcript.hear(_MORE)  # in a repetition, by whoever has given the run a larger budget
            return None
        return self.failed(last.failure, f"it gave no report in its last turn ({last.because})")

    async def _said_last(self, answer: Answer) -> Report | None:
        """An answer without calls is the report, unless it is not complete or has the wrong shape."""
        match answer.stop:
            case "max_tokens" if self._cuts <= _MOST_CUTS:
                self._transcript.hear(_GO_ON)
                self._warn("An answer was too long and was cut off; the model is asked to go on.")
                return None
            case "max_tokens":
                return self.failed("limit", f"its answer was cut off {self._cuts} times in a row")
            case "pause":
                return None
            case _:
                if answer.stop == "other":
                    self._warn("The model ended without saying why.")
                return await self._shaped()

    async def _shaped(self) -> Report | None:
        is_missing = not self.text.strip() and not self._agent.may_be_silent
        fault = "it is empty" if is_missing else await reports.fault(self.text, self._agent.output)
        if fault is None:
            return Report(self.text, self._agent.name)
        self._reminders += 1
        if self._reminders > _MOST_REMINDERS:
            return self.failed("invalid", f"its report has the wrong shape: {fault}")
        remedy = "Call final_report with a report of the right shape." if self._agent.reports else "Answer in words."
        self._transcript.hear(f"That is no report: {fault}. {remedy}")
        self.text = ""
        return None

    def _warn(self, text: str) -> None:
        self._stage.tell(self._agent.name, Warned(text))
