"""Runs one of the known programs as an agent: started, read line by line, given mail, judged, and ended with its tree.

A program has succeeded if its own last event says so and somebody has come to our tools with its token. Neither an exit
code nor the absence of the word "error" is success.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace

from moot.backends.backend import Assignment, Conversation, Ended, Failure, Manner, Progress, Warned
from moot.backends.programs import conversations, faults, fields, known, telling
from moot.backends.programs.hiding import hidden
from moot.backends.programs.launch import CannotLaunch, Event, Kind, Launch, Outcome, Spoken
from moot.backends.programs.mailing import Mailing, mailing
from moot.core import prices, quota
from moot.core.errors import MootError
from moot.core.records import record
from moot.process import child
from moot.process.child import Running
from moot.process.program import MEBIBYTE, Finished, Program


@record
class Limits:
    """Seconds. The agent's own time limit is the runner's, which cancels."""

    deadline: float | None = None
    idle: float = 1800.0  # without any output: a long build prints nothing, a person who is asked takes ten minutes
    linger: float = 15.0  # after it has said how it went
    grace: float = 5.0  # between asking the tree to go and killing it


@dataclass(slots=True)
class _Run:
    """One start of the program, and what became of it."""

    launch: Launch
    finished: Finished | None = None


class ProgramBackend:
    """A backend over one kind of program."""

    def __init__(self, kind: Kind, limits: Limits | None = None, parent: Mapping[str, str] | None = None) -> None:
        self._kind = kind
        self._limits = limits or Limits()
        self._parent = parent

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        try:
            briefing = await assignment.brief()
            await asyncio.to_thread(prices.load)
            parent = os.environ if self._parent is None else self._parent
            while True:
                run = _Run(self._kind.launch(assignment, briefing, parent))
                async for progress in self._progress(run, assignment):
                    yield hidden(progress, run.launch.secrets)
                ended = self._judged(run, assignment)
                if ended is not None:
                    break
                yield Warned(f"{self._kind.name} has forgotten its earlier conversation, and begins a new one.")
                assignment = replace(assignment, conversation=None)
        except CannotLaunch as error:
            yield Ended(error.failure, str(error))
            return
        except MootError as error:
            if (failure := faults.at_start(error)) == "error":
                raise
            yield Ended(failure, str(error))
            return
        yield hidden(ended, run.launch.secrets)

    async def _progress(self, run: _Run, assignment: Assignment) -> AsyncGenerator[Spoken]:
        launch, reader = run.launch, run.launch.reader
        for warning in launch.warnings:
            yield Warned(warning)
        with launch.around():
            async with child.start(self._program(launch, assignment)) as running:
                async with mailing(running, launch, assignment) as post:
                    async for event in self._events(running, launch):
                        for spoken in reader.read(event):
                            yield spoken
                        await _close_when_done(running, launch, post)
                run.finished = await running.wait()

    def _program(self, launch: Launch, assignment: Assignment) -> Program:
        return Program(
            argv=launch.argv,
            cwd=assignment.workspace,
            env=launch.env,
            secrets=launch.secrets,
            stdin=launch.stdin,
            stdin_stays_open=launch.say is not None,
            deadline=self._limits.deadline,
            idle=self._limits.idle,
            grace=self._limits.grace,
            output_cap=MEBIBYTE // 4,
            marker=assignment.attempt,
        )

    async def _events(self, running: Running, launch: Launch) -> AsyncGenerator[Event]:
        """What it prints, as long as it prints; one that has said its last may not stay for ever."""
        lines = running.lines()
        until: float | None = None
        while not launch.reader.is_hopeless:
            try:
                async with asyncio.timeout_at(until):
                    line = await anext(lines)
            except (TimeoutError, StopAsyncIteration):
                break
            event = fields.event(line)  # other lines are kept with the output, for the error if there is one
            if event is not None:
                yield event
            if not launch.reader.is_over:
                until = None
            elif until is None:  # whatever it prints from now on, it is not waited for any longer
                until = asyncio.get_running_loop().time() + self._limits.linger
        if launch.reader.is_over or launch.reader.is_hopeless:
            running.stop()

    def _judged(self, run: _Run, assignment: Assignment) -> Ended | None:
        """How the attempt went; None if its conversation is gone and another should be begun."""
        assert run.finished is not None
        outcome = run.launch.reader.outcome()
        if assignment.conversation is not None and self._forgot(outcome, run.finished):
            return None
        is_whole = run.launch.reader.is_over or run.launch.reader.is_hopeless
        if outcome is None or (outcome.failure is None and not is_whole):
            failure, error = _cut_short(run, run.finished, self._limits)
            error = self._told(failure, error, run.finished, assignment.manner)
            return Ended(failure, error, usage=run.launch.reader.used(), conversation=assignment.conversation)
        failure, error = self._verdict(outcome, assignment)
        return Ended(
            failure,
            error if failure is None else self._told(failure, error, run.finished, assignment.manner),
            outcome.text,
            outcome.usage,
            _kept(outcome, failure, assignment),
            outcome.wait_until,
        )

    def _verdict(self, outcome: Outcome, assignment: Assignment) -> tuple[Failure | None, str]:
        if outcome.failure is not None:
            return outcome.failure, outcome.error
        if not assignment.access.has_connected():
            return "no_tools", "it says that it has succeeded, but it never reached moot's tools"
        return None, ""

    def _forgot(self, outcome: Outcome | None, finished: Finished) -> bool:
        if not self._kind.forgotten or (outcome is not None and outcome.failure is None):
            return False
        return self._kind.forgotten in f"{outcome.error if outcome else ''}\n{telling.own_words(finished)}"

    def _told(self, failure: Failure, error: str, finished: Finished, manner: Manner) -> str:
        remedy = telling.login(known.PROGRAMS[self._kind.name], manner) if failure == "auth" else ""
        if failure == "refused" and quota.is_spent(error):
            remedy = quota.REMEDY
        return telling.told(self._kind.name, error, finished, remedy)


async def _close_when_done(running: Running, launch: Launch, post: Mailing) -> None:
    """Its input is closed when it has answered, because only then does a program that takes mail end. What it was sent
    before, it still deals with."""
    if launch.say is not None and launch.reader.outcome() is not None:
        await post.stop()
        running.close_stdin()


def _cut_short(run: _Run, finished: Finished, limits: Limits) -> tuple[Failure, str]:
    """It did not say how it went."""
    if finished.ended == "deadline":
        return "timeout", f"it took longer than {limits.deadline:g} seconds"
    if finished.ended == "idle":
        return "timeout", f"it gave no sign of life for {limits.idle:g} seconds"
    if finished.signal is not None:
        return "crash", f"it was ended by signal {finished.signal} before it said how it went"
    failure = run.launch.reader.explain(telling.own_words(finished)) or "no_result"
    fact = f"it ended with exit code {finished.exit_code} and did not say how it went"
    return failure, telling.cut_short(failure, fact, finished)


def _kept(outcome: Outcome, failure: Failure | None, assignment: Assignment) -> Conversation | None:
    """A conversation that the provider does not take is not gone on with: it may be what it does not take. That of an
    isolated agent is lost with its private directory."""
    return outcome.conversation if conversations.is_kept(assignment.manner) and failure != "refused" else None
