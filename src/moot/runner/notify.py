"""Telling a person that they are needed: a command of the workflow or the project, run once for each message.

What the message says is in the command's environment, never in its line.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from moot.bus import messages
from moot.bus.messages import Message
from moot.core import secrecy
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import AgentId, MessageId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.process import child, environment
from moot.process.guardian import Guardian
from moot.process.program import Finished, Program, shell_argv
from moot.registry import agents, runs
from moot.registry.agents import Agent
from moot.requests import requests
from moot.requests.requests import Request
from moot.runner import values
from moot.runner.worker import Task
from moot.store.store import Store
from moot.workflow import shell, stored
from moot.workflow.workflow import Notify

_log = logging.getLogger("moot.runner")
_MOST_SUBJECT, _MOST_TEXT = 200, 10_000  # characters: there is an end to what an environment holds
_SHOWN = 500  # characters of a failed command's output


@record
class NotifyWorker:
    """Carries out the jobs of kind `notify`."""

    store: Store
    root: Path  # where the command is run
    default: Notify | None  # the project's, for runs whose workflow has none
    guardian: Guardian  # ends the command, should this process be killed

    def begin(self, tx: Tx, job: Job) -> Task | None:
        person = agents.get(tx, AgentId(job.subject))
        program = self._program(tx, person, _facts(tx, job, person))
        if program is None:
            jobs.finish(tx, job)
            return None
        return partial(self._carry_out, job, replace(program, marker=f"notify-{job.id}"))

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """Perhaps the person was told, perhaps not; nobody is told twice, and nobody waits for it."""
        jobs.resolve(tx, job.id, "failed")

    def _program(self, tx: ReadTx, person: Agent, facts: Mapping[str, str]) -> Program | None:
        run = runs.live(tx, person.instance)
        workflow = None if run is None else stored.from_json(run.definition)
        if run is not None and workflow is not None and workflow.notify is not None:
            line = shell.expand(workflow.notify.shell, values.of_run(run, workflow, run.outputs))
            env = environment.build(facts, also=workflow.env)
            return self._calling(line, env, workflow.notify.timeout)
        if self.default is None:
            return None
        return self._calling(self.default.shell, environment.build(facts), self.default.timeout)

    def _calling(self, line: str, env: Mapping[str, str], timeout: timedelta) -> Program:
        secrets, seconds = secrecy.secrets_of(env), timeout.total_seconds()
        return Program(shell_argv(line), cwd=self.root, env=env, deadline=seconds, secrets=secrets)

    async def _carry_out(self, job: Job, program: Program) -> None:
        assert program.marker is not None
        try:
            with self.guardian.guarding(program.marker):
                finished = await child.run(program)
        except asyncio.CancelledError:
            await self._settle(lambda tx: jobs.fail(tx, job, "the host stopped"))
            raise
        except MootError as error:
            await self._fail(job, str(error))
            return
        if finished.is_success:
            await self._settle(lambda tx: jobs.finish(tx, job))
        else:
            await self._fail(job, _failure(finished))

    async def _fail(self, job: Job, reason: str) -> None:
        _log.warning("the command that tells people failed: %s", reason)
        await self._settle(lambda tx: jobs.fail(tx, job, reason))

    async def _settle(self, change: Callable[[Tx], None]) -> None:
        with contextlib.suppress(JobLost):
            await self.store.write(change, caller=SYSTEM)


def _facts(tx: ReadTx, job: Job, person: Agent) -> dict[str, str]:
    """What the command is told."""
    message = messages.get(tx, MessageId(str(job.arguments["message"])), job.stream)
    request = requests.of_message(tx, message.id)
    return {
        "MOOT_ID": request.id if request else message.id,
        "MOOT_FROM": message.sender,
        "MOOT_TO": person.name,
        "MOOT_KIND": message.kind,
        "MOOT_SUBJECT": _subject(message, request),
        "MOOT_TEXT": message.body[:_MOST_TEXT],
    }


def _subject(message: Message, request: Request | None) -> str:
    first = (message.body.strip().splitlines() or [""])[0] if request is None else request.title
    return first[:_MOST_SUBJECT]


def _failure(finished: Finished) -> str:
    printed = finished.printed(_SHOWN)
    return f"it {finished.how}: {printed}" if printed else f"it {finished.how}"
