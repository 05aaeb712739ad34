"""Setup: the shell commands of a run, one after the other, before anybody is woken.

What a command printed is on record before the next one starts. A command whose end is not on record is run again when
somebody goes on with the run: setup looks things up, it does not change them.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from moot.core import durations, secrecy
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import RunId
from moot.core.records import record
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.process import child, environment, sweep
from moot.process.guardian import Guardian
from moot.process.program import Finished, Program, as_text, shell_argv
from moot.registry import instances, runs
from moot.registry.runs import Run
from moot.runner import phases, values
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Words
from moot.workflow import shell, stored
from moot.workflow.workflow import OUTPUT_LIMIT, SetupTask, Workflow

T = TypeVar("T")
_log = logging.getLogger("moot.runner")
_SHOWN = 2000  # characters of a failed command's output


class SetupFailed(MootError):
    """A command of a run's setup went wrong; the run is over."""

    code = "SETUP_FAILED"


@record
class SetupWorker:
    """Carries out the jobs of kind `setup`."""

    store: Store
    root: Path  # where commands are run
    guardian: Guardian  # ends them, should this process be killed
    recall: Callable[[int], str] | None = None  # what a command has printed, instead of running it

    def begin(self, tx: Tx, job: Job) -> Task | None:
        run = runs.get(tx, RunId(job.subject))
        if run.state != "live" or run.phase != "setup" or run.stop_asked is not None:
            jobs.finish(tx, job)
            return None
        return partial(self._carry_out, job, run)

    def late(self, tx: Tx, job: Job) -> None:
        """Setup has no deadline as a whole; each command has its own."""

    def lost(self, tx: Tx, job: Job) -> None:
        """Nothing is half done in the store; the next owner goes on behind the last output."""

    async def _carry_out(self, job: Job, run: Run) -> None:
        try:
            await self._run_commands(job, run)
        except asyncio.CancelledError:
            await self._write(lambda tx: jobs.put_back(tx, job))
            raise
        except JobLost as error:
            _log.warning("setup of %s was taken away: %s", run.name, error)
        except MootError as error:
            failure = error
            await self._write(lambda tx: _fail(tx, job, run.id, failure))

    async def _run_commands(self, job: Job, run: Run) -> None:
        workflow = stored.from_json(run.definition)
        outputs = list(run.outputs)
        if job.losses:  # what a host that was killed has left running would get in the way of its repetition
            await asyncio.to_thread(sweep.kill_marked, _marker(job))
        for task in workflow.setup[len(outputs) :]:
            line = shell.expand(task.shell, values.of_run(run, workflow, outputs))
            program = self._program(job, task, line, workflow)
            outputs.append(self.recall(len(outputs)) if self.recall else await self._output(task, program))
            so_far = tuple(outputs)
            if not await self._write(lambda tx, so_far=so_far: _keep(tx, job, run, so_far)):
                return
        await self._write(lambda tx: _succeed(tx, job, run.id))

    def _program(self, job: Job, task: SetupTask, line: str, workflow: Workflow) -> Program:
        env = environment.build(also=workflow.env)
        return Program(
            shell_argv(line),
            cwd=self.root,
            env=env,
            secrets=secrecy.secrets_of(env),
            deadline=task.timeout.total_seconds(),
            output_cap=OUTPUT_LIMIT,
            marker=_marker(job),
        )

    async def _output(self, task: SetupTask, program: Program) -> str:
        """What it printed, without the line ends at its end, as a shell's `$(…)` gives it."""
        assert program.marker is not None
        with self.guardian.guarding(program.marker):
            finished = await child.run(program)
        if not finished.is_success:
            raise _failed(task, finished)
        return as_text(finished.stdout)

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


def _marker(job: Job) -> str:
    return f"setup-{job.id}"


def _keep(tx: Tx, job: Job, run: Run, outputs: tuple[str, ...]) -> bool:
    """Note what was printed; False if the run is to stop here."""
    jobs.guard(tx, job)
    runs.keep(tx, run, outputs)
    is_stopping = runs.get(tx, run.id).stop_asked is not None
    if is_stopping:
        jobs.finish(tx, job)
    return not is_stopping


def _succeed(tx: Tx, job: Job, id: RunId) -> None:
    jobs.finish(tx, job)
    phases.begin(tx, runs.get(tx, id))


def _fail(tx: Tx, job: Job, id: RunId, error: MootError) -> None:
    """The channel tells what happened, and the run is over."""
    jobs.fail(tx, job, str(error))
    run = runs.get(tx, id)
    talk.say(tx, instances.get(tx, run.instance), None, Words(error.fact, kind="system", spoken=""))
    phases.close(tx, id, "failed", error.fact)


def _failed(task: SetupTask, finished: Finished) -> SetupFailed:
    printed = finished.printed(_SHOWN)
    fact = f"The setup command `{task.shell}` {finished.how}." + (f"\n{printed}" if printed else "")
    more_time = f", or give it more than {durations.spell(task.timeout)}" if finished.ended == "deadline" else ""
    return SetupFailed(fact, f"Mend it{more_time}.")
