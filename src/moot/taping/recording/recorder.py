"""Recording: how a run comes onto a tape.

Two things are listened to while the run goes on. The Recorder stands between the host and its backends, models and
tools, and writes down what every attempt was handed (Begin, Briefed, More), what it asked of models and what came of
that (Asked, Replied, Unanswered, Refused), which tools were called and what they answered (Call), what it let be known
(Progress) and how it ended (End). Of flows it writes down which have begun (Started), what each of their commits came
from (Moved), and how they stood at the end (Stood). Beside it the chronicle follows the store and writes down what
happened there, whoever did it: messages, votes, answers, documents, stops. Every line goes through `hiding`, and is in
the file before the next; none is long enough to keep others waiting for it. The last line is the Outcome; a tape
without one was cut short: moot was killed, or the file cannot grow any more.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from moot.backends import backend as contract
from moot.backends.backend import Assignment, Backend, Briefing, Called, Ended, Usage, Warned, Wrote
from moot.core.ids import InstanceName, JobId, StreamId
from moot.core.version import VERSION
from moot.core.wakes import Signal
from moot.engine.expressions.moments import Momentary
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.models.model import Model
from moot.registry import runs
from moot.registry.runs import Run
from moot.runner.api_agents import Asking, AsksModels
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Equip, Kit
from moot.runner.flows.cues import Guide, Unguided
from moot.runner.flows.worker import FlowWorker
from moot.runner.refusals import Noted
from moot.runner.setup import SetupWorker
from moot.runner.worker import Worker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.taping import members, tape
from moot.taping.chronicle import Chronicler, letter
from moot.taping.hiding import Hiding
from moot.taping.members import Chosen
from moot.taping.recording.model_calls import ModelCalls
from moot.taping.recording.recorded_backend import RecordedBackend
from moot.taping.recording.recorded_flow import RecordedFlow, RecordedFlows
from moot.taping.recording.recorded_model import RecordedModel
from moot.taping.recording.speech import Speech
from moot.taping.tape import Begin, Briefed, Call, End, Header, Line, More, Outcome, Progress
from moot.taping.tape_file import Writer
from moot.taping.watched import Watched
from moot.tools.witness import Answered, Told
from moot.workflow.workflow import Workflow

_log = logging.getLogger("moot.runner")


class Recorder:
    """Writes down one run of one instance. What else its host does is left alone."""

    def __init__(
        self,
        writer: Writer,
        instance: InstanceName,
        workflow: Workflow,
        chosen: Mapping[str, Chosen],
        *,
        has_person: bool = False,
    ) -> None:
        self._writer: Writer | None = writer
        self._instance = instance
        self._hiding = Hiding(os.environ)
        self._chronicler: Chronicler | None = None
        self._stream: StreamId | None = None  # of the run
        self._speech: dict[str, Speech] = {}  # of attempts that may go on
        self._system_prompts: dict[str, str] = {}  # what each agent was told last
        self._model_calls = ModelCalls(self._write, self._drop_text)
        self._flows = RecordedFlows(self._write)
        self._ended: dict[str, End] = {}
        self._attempts: dict[JobId, str] = {}
        setup = tuple(one.shell for one in workflow.setup)
        agents, context = members.of_workflow(workflow, chosen), members.context(workflow)
        self._write(Header(VERSION, workflow.name, instance, setup, agents, context, has_person))

    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]:
        return {
            name: RecordedBackend(one.through(self._recorded) if isinstance(one, AsksModels) else one, self)
            for name, one in found.items()
        }

    def _recorded(self, assignment: Assignment, asking: Asking, model: Model) -> Model:
        return RecordedModel(model, assignment, asking, self._model_calls) if self.is_about(assignment) else model

    def equip(self, equip: Equip) -> Equip:
        @asynccontextmanager
        async def equipped(begun: Begun) -> AsyncGenerator[Kit]:
            self._attempts[begun.job.id] = begun.attempt
            self._hiding.add(begun.token)
            if begun.agent.instance == self._instance:
                mail, number = tuple(letter(one) for one in begun.mail), begun.job.tries + 1
                self._write(Begin(begun.attempt, begun.agent.name, number, mail, begun.leave))
            async with equip(begun) as kit:
                yield kit

        return equipped

    def attempts(self, worker: AttemptWorker) -> Worker:
        return Watched(worker, self._settled)

    def setup(self, worker: SetupWorker) -> Worker:
        return worker

    def own(self, worker: Worker) -> Worker:
        return worker

    def worktrees(self, found: Worktrees) -> Worktrees:
        return found

    def flows(self, worker: FlowWorker, evaluator: Momentary) -> Worker:
        def guided(flow: Flow, signal: Signal) -> Guide:
            if flow.instance != self._instance:
                return Unguided(worker.evaluator)
            return RecordedFlow(flow, evaluator, worker.store, self._flows)

        return replace(worker, guiding=guided, deeds=replace(worker.deeds, witness=self._called))

    def _called(self, flow: Flow, strand: Strand, heard: Answered | Told) -> None:
        if isinstance(heard, Answered) and flow.instance == self._instance:
            self._write(replace(self._call(heard), flow=flow.id, strand=strand.number, step=strand.step_id))

    def heard(self, heard: Answered | Told) -> None:
        caller = heard.caller
        if caller.instance != self._instance:
            return
        if isinstance(heard, Told):
            assert caller.attempt is not None
            call = self._model_calls.number(caller.attempt, heard.answered)
            self._write(More(caller.attempt, tuple(letter(one) for one in heard.mail), call))
            return
        if caller.attempt is not None:
            self._model_calls.called(caller.attempt, heard)
        self._write(self._call(heard))

    def _call(self, heard: Answered) -> Call:
        caller, answer, made = heard.caller, heard.answer, heard.made
        return Call(
            caller.attempt,
            caller.name,
            caller.role,
            heard.tool,
            heard.arguments,
            heard.is_keyed,
            answer.text,
            answer.structured,
            answer.is_error,
            None if made is None else made.operation,
            heard.path,
            () if made is None else tuple(seq for stream, seq in made.events if stream == self._stream),
        )

    @asynccontextmanager
    async def attending(self, store: Store, run: Run) -> AsyncGenerator[None]:
        chronicler = self._chronicler = Chronicler(run)
        self._stream = run.stream
        for line in await store.read(chronicler.present):
            self._write(line)
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self._follow(store, chronicler))
            try:
                yield
            finally:
                following.cancel()

    async def finish(self, store: Store, run: Run, exit_code: int) -> None:
        await self._catch_up(store, self._chronicler or Chronicler(run))
        for stood in await store.read(self._flows.stood):
            self._write(stood)
        over = await store.read(lambda tx: runs.get(tx, run.id))
        failure = over.reason if over.phase == "setup" and over.state == "failed" else ""
        self._write(Outcome(exit_code, over.state, failure))
        self.close()

    def close(self) -> None:
        """Nothing is written from now on."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(OSError):  # what was not written by now is not written any more
                writer.close()

    async def _follow(self, store: Store, chronicler: Chronicler) -> None:
        with store.listen() as signal:
            while True:
                signal.clear()
                await self._catch_up(store, chronicler)
                await signal.wait()

    async def _catch_up(self, store: Store, chronicler: Chronicler) -> None:
        while lines := await chronicler.news(store):
            for line in lines:
                self._write(line)

    def is_about(self, assignment: Assignment) -> bool:
        return assignment.instance == self._instance

    def briefed(self, assignment: Assignment, briefing: Briefing) -> None:
        before = self._system_prompts.get(assignment.agent)
        system = None if briefing.system_prompt == before else briefing.system_prompt
        self._system_prompts[assignment.agent] = briefing.system_prompt
        self._write(Briefed(assignment.attempt, briefing.prompt, system))
        self._model_calls.briefed(assignment.attempt, briefing)

    def gets(self, assignment: Assignment, mail: tuple[contract.Letter, ...]) -> None:
        self._write(More(assignment.attempt, tuple(letter(one) for one in mail)))

    def noted(self, assignment: Assignment, noted: Noted) -> None:
        self._model_calls.noted(assignment.attempt, noted)

    def goes_on(self, assignment: Assignment, progress: contract.Progress) -> None:
        attempt = assignment.attempt
        speech = self._speech.get(attempt)
        if speech is None:
            speech = self._speech[attempt] = Speech()
        if isinstance(progress, Wrote):  # kept until it is whole: a secret may come in two pieces
            speech.add(progress.text)
            return
        self._put_down_text(attempt)
        match progress:
            case Called():
                if speech.has_room(progress.tool):
                    self._write(Progress(attempt, "called", progress.tool, progress.is_error))
            case Warned():
                self._write(Progress(attempt, "warned", progress.text))
            case Usage():
                self._write(Progress(attempt, "used", usage=progress))
            case Ended():
                self._end_speech(attempt)
                self._ended[attempt] = End(
                    attempt, "ended", progress.failure, progress.error, progress.text, progress.usage
                )

    def crashed(self, assignment: Assignment, error: Exception) -> None:
        told = f"{type(error).__name__}: {error}"
        self._ended[assignment.attempt] = End(assignment.attempt, "crashed", "crash", told)

    def _settled(self, job: JobId) -> None:
        attempt = self._attempts.pop(job, None)
        if attempt is not None:
            self._end_speech(attempt)
            self._model_calls.over(attempt)
            self._write(self._ended.pop(attempt, End(attempt, "cancelled")))

    def _end_speech(self, attempt: str) -> None:
        self._put_down_text(attempt)
        speech = self._speech.pop(attempt, None)
        if speech is not None and speech.cut:
            self._write(Progress(attempt, "cut", speech.cut))

    def _drop_text(self, attempt: str) -> None:
        """It is on the tape with the answer of which it was a part."""
        if attempt in self._speech:
            self._speech[attempt].drop()

    def _put_down_text(self, attempt: str) -> None:
        if attempt in self._speech and (text := self._speech[attempt].take()):
            self._write(Progress(attempt, "wrote", text))

    def _write(self, line: Line) -> None:
        """A run does not fail because it cannot be recorded; the tape is cut short there."""
        if self._writer is None:
            return
        try:
            self._writer.write({name: self._hiding.hidden(value) for name, value in tape.plain(line).items()})
        except OSError as error:
            _log.warning("the run is not recorded any further: %s", error.strerror)
            self.close()
