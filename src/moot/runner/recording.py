"""Recording: everything that a run's agents were handed, called and answered goes onto a tape, without its secrets."""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from moot import __version__
from moot.backends import backend as contract
from moot.backends.backend import Assignment, Backend, Called, Ended, Usage, Warned, Wrote
from moot.bus import messages
from moot.core.events import StoredEvent
from moot.core.ids import InstanceName, JobId, MessageId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.jobs.jobs import Job
from moot.models import redaction
from moot.registry import runs
from moot.registry.runs import Run
from moot.runner import score, tape
from moot.runner.begun import Begun, Equip, Kit
from moot.runner.setup import SetupWorker
from moot.runner.tape import Begin, Call, End, Happened, Header, Letter, More, Outcome, Progress, Said
from moot.runner.worker import Task, Worker
from moot.store import feed
from moot.store.store import Store
from moot.tools.witness import Heard
from moot.workflow import variables
from moot.workflow.workflow import Workflow

_SHORTEST = 8  # of a secret; a shorter one would be found in the middle of words
_PAGE = 500


class Recorder:
    """Writes down one run of one instance. What else its host does is left alone."""

    def __init__(self, file: Path, instance: InstanceName, workflow: Workflow) -> None:
        self._writer = tape.Writer(file)
        self._instance = instance
        self._secrets = secrets_of(os.environ)
        self._ended: dict[str, End] = {}
        self._attempts: dict[JobId, str] = {}
        setup = tuple(one.shell for one in workflow.setup)
        self._write(Header(__version__, workflow.name, setup, {one.name: one.backend or "" for one in workflow.agents}))

    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]:
        return {name: _Recorded(one, self) for name, one in found.items()}

    def equip(self, equip: Equip) -> Equip:
        @asynccontextmanager
        async def equipped(begun: Begun) -> AsyncGenerator[Kit]:
            self._attempts[begun.job.id] = begun.attempt
            self._secrets.add(begun.token)
            async with equip(begun) as kit:
                yield kit

        return equipped

    def attempts(self, worker: Worker) -> Worker:
        return _Watched(worker, self)

    def setup(self, worker: SetupWorker) -> Worker:
        return worker

    def heard(self, heard: Heard) -> None:
        caller, answer = heard.caller, heard.answer
        if caller.instance != self._instance:
            return
        self._write(
            Call(
                caller.attempt,
                caller.name,
                caller.role,
                heard.tool,
                heard.arguments,
                heard.is_keyed,
                answer.text,
                answer.structured,
                answer.is_error,
                heard.operation,
            )
        )

    def is_about(self, assignment: Assignment) -> bool:
        return assignment.instance == self._instance

    def begins(self, assignment: Assignment) -> None:
        self._write(Begin(assignment.attempt, assignment.agent, assignment.number, _letters(assignment.inbox)))

    def gets(self, assignment: Assignment, mail: tuple[contract.Letter, ...]) -> None:
        self._write(More(assignment.attempt, _letters(mail)))

    def goes_on(self, assignment: Assignment, progress: contract.Progress) -> None:
        attempt = assignment.attempt
        match progress:
            case Wrote():
                self._write(Progress(attempt, "wrote", progress.text))
            case Called():
                self._write(Progress(attempt, "called", progress.tool, progress.is_error))
            case Warned():
                self._write(Progress(attempt, "warned", progress.text))
            case Usage():
                self._write(Progress(attempt, "used", usage=asdict(progress)))
            case Ended():
                self._ended[attempt] = End(
                    attempt, "ended", progress.failure, progress.error, progress.text, asdict(progress.usage)
                )

    def crashed(self, assignment: Assignment, error: Exception) -> None:
        self._ended[assignment.attempt] = End(
            assignment.attempt, "crashed", "crash", f"{type(error).__name__}: {error}"
        )

    def settled(self, job: JobId) -> None:
        """What came of an attempt is in the store."""
        attempt = self._attempts.pop(job, None)
        if attempt is not None:
            self._write(self._ended.pop(attempt, End(attempt, "cancelled")))

    async def finish(self, store: Store, run: Run, exit_code: int) -> None:
        """The run is over: the numbers of what happened, what was said, and what came of it."""
        seq = run.first_seq
        while page := await store.read(lambda tx, seq=seq: _page(tx, run, seq)):
            for line in page[0]:
                self._write(line)
            seq = page[1]
        over = await store.read(lambda tx: runs.get(tx, run.id))
        failure = over.reason if over.phase == "setup" and over.state == "failed" else ""
        self._write(Outcome(exit_code, over.state, tuple(over.outputs), failure))

    def close(self) -> None:
        self._writer.close()

    def _write(self, line: Any) -> None:
        self._writer.write({name: self._hidden(value) for name, value in tape.plain(line).items()})

    def _hidden(self, value: Any) -> Json:
        match value:
            case str():
                return redaction.redact(value, self._secrets)
            case dict():
                return {key: self._hidden(one) for key, one in cast(dict[str, Any], value).items()}
            case list():
                return [self._hidden(one) for one in cast(list[Any], value)]
            case _:
                return value


class _Recorded:
    """A backend whose attempts are written down."""

    def __init__(self, backend: Backend, recorder: Recorder) -> None:
        self._backend = backend
        self._recorder = recorder

    async def run(self, assignment: Assignment) -> AsyncIterator[contract.Progress]:
        recorder = self._recorder
        if not recorder.is_about(assignment):
            async for progress in self._backend.run(assignment):
                yield progress
            return

        async def more() -> tuple[contract.Letter, ...]:
            mail = await assignment.more()
            recorder.gets(assignment, mail)
            return mail

        recorder.begins(assignment)
        try:
            # Closed with this one, so that cancelling ends what it has started.
            running = cast(AsyncGenerator[contract.Progress], self._backend.run(replace(assignment, more=more)))
            async with aclosing(running) as pieces:
                async for progress in pieces:
                    recorder.goes_on(assignment, progress)
                    yield progress
        except Exception as error:
            recorder.crashed(assignment, error)
            raise


class _Watched:
    """A worker of which it is told when a job is over."""

    def __init__(self, worker: Worker, recorder: Recorder) -> None:
        self._worker = worker
        self._recorder = recorder

    def begin(self, tx: Tx, job: Job) -> Task | None:
        task = self._worker.begin(tx, job)
        if task is None:
            return None

        async def watched() -> None:
            try:
                await task()
            finally:
                self._recorder.settled(job.id)

        return watched

    def late(self, tx: Tx, job: Job) -> None:
        self._worker.late(tx, job)

    def lost(self, tx: Tx, job: Job) -> None:
        self._worker.lost(tx, job)


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    """The values in an environment that nobody should read. Folders, and words about the desktop, are none."""
    return {
        value
        for name, value in environ.items()
        if variables.looks_secret(name)
        and len(value) >= _SHORTEST
        and not name.startswith(("XDG_", "DESKTOP_"))
        and not os.path.isdir(value)
    }


def _letters(mail: tuple[contract.Letter, ...]) -> tuple[Letter, ...]:
    return tuple(Letter(one.id, one.sender, one.kind, one.body) for one in mail)


def _page(tx: ReadTx, run: Run, seq: int) -> tuple[list[Happened | Said], int] | None:
    """Some lines, and behind which event they end."""
    events = feed.events_after(tx, run.stream, seq, _PAGE)
    if not events:
        return None
    lines = [line for event in events if (line := _line(tx, run, event)) is not None]
    return lines, events[-1].seq


def _line(tx: ReadTx, run: Run, event: StoredEvent) -> Happened | Said | None:
    if event.kind == score.POSTED:
        one = messages.get(tx, MessageId(event.subject), run.stream)
        return Said(one.seq, one.id, one.sender, one.kind, one.body, one.mentions, one.attempt)
    if event.kind in score.KEPT:
        return Happened(event.seq, event.kind, event.subject, str(event.data.get("error", "")))
    return None
