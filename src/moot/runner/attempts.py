"""One attempt, from the mail that woke an agent to the acknowledgement of exactly what was handed over."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from moot.backends.backend import Assignment, Backend, Briefing, Ended, Letter, Usage, Warned
from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core.caller import SYSTEM, Caller
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import AgentId, AttemptId, HostId
from moot.core.tool import Toolbox
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.ledger import budgets, operations, usage
from moot.ledger.usage import Spent
from moot.registry import agents, attempts, instances, runs, tokens
from moot.registry.agents import Agent
from moot.registry.attempts import NewAttempt
from moot.registry.runs import Run
from moot.registry.tokens import Grant
from moot.runner import guidance, limits, prompts, scene, terms
from moot.runner.prompts import Occasion
from moot.runner.reactions.wake_agents import attempt_key, may_run, wake
from moot.runner.scene import Scene
from moot.runner.worker import Task
from moot.store.store import Store
from moot.tools import channel, talk
from moot.tools.talk import Words
from moot.workflow.workflow import Retry as OwnRetry

_log = logging.getLogger("moot.runner")
BATCH = 50  # messages handed over at once; the rest follow in the next attempt
MOST_LOSSES = 10  # hosts that may vanish over one delivery before it is parked


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how soon a failed attempt is tried again."""

    attempts: int = 3
    backoff: timedelta = timedelta(seconds=1)
    multiplier: float = 2.0

    def delay(self, failures: int) -> timedelta:
        return self.backoff * self.multiplier ** (failures - 1)

    def but(self, own: OwnRetry) -> "Retry":
        """With what an agent's own definition says."""
        return Retry(
            self.attempts if own.attempts is None else own.attempts,
            self.backoff if own.backoff is None else own.backoff,
            self.multiplier if own.multiplier is None else own.multiplier,
        )


@dataclass(frozen=True, slots=True)
class Start:
    """What an attempt starts from."""

    job: Job
    agent: Agent
    run: Run | None
    is_last: bool  # the run's budget is used up: this is to finish and sum up


@dataclass(frozen=True, slots=True)
class Begun(Start):
    """An attempt that has its mail and its identity, and now needs its backend."""

    mail: tuple[Mail, ...]
    caller: Caller
    token: str
    at: datetime


OpenToolbox = Callable[[Begun], AbstractAsyncContextManager[Toolbox]]


@dataclass(frozen=True, slots=True)
class AttemptWorker:
    """Carries out the jobs of kind `attempt`."""

    store: Store
    host: HostId
    backends: Mapping[str, Backend]
    open_toolbox: OpenToolbox
    retry: Retry = Retry()
    time_limit: timedelta = timedelta(hours=1)

    def begin(self, tx: Tx, job: Job) -> Task | None:
        tx.lock("agents", job.subject)
        agent = agents.get(tx, AgentId(job.subject))
        if not may_run(tx, agent) or not mailbox.has_queued(tx, agent.id):
            jobs.finish(tx, job)
            return None
        run = runs.live(tx, agent.instance)
        leave = limits.may_begin(tx, agent, run, terms.of_agent(agent))
        if leave == "none":  # its mail waits for whoever resumes the run
            jobs.finish(tx, job)
            return None
        return partial(self._carry_out, _begin(tx, Start(job, agent, run, leave == "last"), self.host))

    def late(self, tx: Tx, job: Job) -> None:
        """Nobody was in time: the mail that waits is parked, and the person told."""
        tx.lock("agents", job.subject)
        count = mailbox.park_queued(tx, AgentId(job.subject))
        if count:
            _tell_parked(tx, agents.get(tx, AgentId(job.subject)), "was not started before its deadline", count)

    def lost(self, tx: Tx, job: Job) -> None:
        """The host of an attempt is gone: its mail waits again, unless this happened too often."""
        for attempt in attempts.of_job(tx, job.id):
            if not _end(tx, attempt.id, "lost", "its host disappeared"):
                continue
            tx.announce(Event(job.stream, attempts.LOST, attempt.id, {"agent": attempt.agent}, is_quiet=True))
            if job.losses < MOST_LOSSES:
                mailbox.take_back(tx, attempt.agent, attempt.id, is_failure=False)
            else:
                count = mailbox.park(tx, attempt.agent, attempt.id)
                _tell_parked(tx, agents.get(tx, attempt.agent), f"lost its host {job.losses} times", count)

    async def _carry_out(self, begun: Begun) -> None:
        try:
            ended = await self._run(begun)
        except asyncio.CancelledError:
            await self._settle(begun, _interrupt)
            raise
        retry = self.retry.but(terms.of_agent(begun.agent).retry)
        try:
            await self._settle(begun, partial(_close, ended=ended, retry=retry))
        except MootError as error:  # its last words cannot be posted: that is a failure, too
            failed = Ended("error", f"{error.code}: {error}", usage=ended.usage)
            await self._settle(begun, partial(_close, ended=failed, retry=retry))

    async def _run(self, begun: Begun) -> Ended:
        """Whatever goes wrong in a backend is this agent's failure and nobody else's."""
        limit = terms.of_agent(begun.agent).timeout or self.time_limit
        try:
            async with asyncio.timeout(limit.total_seconds()), self.open_toolbox(begun) as toolbox:
                return await self._play(begun, toolbox)
        except TimeoutError:
            return Ended("timeout", f"it ran longer than {limit}")
        except MootError as error:
            return Ended("error", f"{error.code}: {error}")
        except Exception as error:  # noqa: BLE001  # the boundary of an agent's run
            _log.exception("the backend of %s crashed", begun.agent.name)
            return Ended("crash", f"{type(error).__name__}: {error}")

    async def _play(self, begun: Begun, toolbox: Toolbox) -> Ended:
        backend = self.backends.get(begun.agent.backend)
        if backend is None:
            return Ended("error", f"this host has no backend {begun.agent.backend!r}")
        async for progress in backend.run(_assignment(begun, toolbox, partial(self._brief, begun))):
            if isinstance(progress, Ended):
                return progress
            if isinstance(progress, Warned):
                _log.warning("%s: %s", begun.agent.name, progress.text)
        return Ended("no_result", "it ended without a result")

    async def _brief(self, begun: Begun) -> Briefing:
        job, attempt = begun.job.id, _attempt_of(begun)
        found = await self.store.read(lambda tx: scene.look(tx, begun.agent, begun.run, job, attempt))
        return _briefing(begun, found)

    async def _settle(self, begun: Begun, change: Callable[[Tx, Begun], None]) -> None:
        try:
            await self.store.write(lambda tx: change(tx, begun), caller=SYSTEM)
        except JobLost as error:
            _log.warning("the result of %s came too late: %s", begun.agent.name, error)


def _begin(tx: Tx, start: Start, host: HostId) -> Begun:
    job, agent, run = start.job, start.agent, start.run
    number, token = job.tries + 1, tokens.new_text()
    usage.begin(tx, limits.scope_of(agent, run), agent.id)
    new = NewAttempt(agent.id, agent.stream, job.id, job.fence, number, host, run.id if run else None)
    attempt = attempts.start(tx, new)
    if number == 1:
        mailbox.rejoin(tx, agent.id, attempt)
    mail = mailbox.hand_out(tx, agent.id, attempt, BATCH)
    attempts.led_by(tx, attempt, max((one.hops for one in mail), default=0))
    groups = terms.groups(terms.of_agent(agent), has_context=_has_context(run))
    id = tokens.mint(tx, token, Grant("attempt", agent.instance, agent.role, agent.id, groups, attempt))
    caller = Caller(agent.name, agent.role, agent.instance, agent.id, id, attempt, job.fence, groups)
    return Begun(job, agent, run, start.is_last, tuple(mail), caller, token, tx.now)


def _assignment(begun: Begun, toolbox: Toolbox, brief: Callable[[], Awaitable[Briefing]]) -> Assignment:
    return Assignment(
        agent=begun.agent.name,
        instance=begun.agent.instance,
        settings=begun.agent.settings,
        inbox=tuple(_letter(mail) for mail in begun.mail),
        number=begun.job.tries + 1,
        toolbox=toolbox,
        brief=brief,
    )


def _briefing(begun: Begun, found: Scene) -> Briefing:
    has_context = _has_context(begun.run)
    occasion = Occasion(begun.agent, begun.mail, begun.job.tries + 1, begun.is_last, has_context)
    own = guidance.expanded(begun.run, terms.of_agent(begun.agent).system_prompt)
    return Briefing(
        prompt=prompts.prompt(occasion, found, prompts.new_nonce()),
        system_prompt=guidance.system_prompt(own, begun.caller.groups, has_context=has_context),
    )


def _has_context(run: Run | None) -> bool:
    """Whether the agents of the run share a channel and documents. (Its definition is not read whole for this.)"""
    context = run.definition.get("context") if run else None
    return not isinstance(context, Mapping) or context.get("is_on") is not False


def _letter(message: Message | Mail) -> Letter:
    return Letter(message.id, message.seq, message.sender, message.body, message.kind, message.priority, message.at)


def _close(tx: Tx, begun: Begun, ended: Ended, retry: Retry) -> None:
    _record(tx, begun, ended.usage)
    if ended.failure is None:
        _succeed(tx, begun, ended.text)
    else:
        _fail(tx, begun, ended, retry)


def _record(tx: Tx, begun: Begun, used: Usage) -> None:
    spent = Spent(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        turns=used.turns,
        dollars=used.cost,
        busy=tx.now - begun.at,
        is_estimated=used.is_estimated,
    )
    usage.record(tx, limits.scope_of(begun.agent, begun.run), begun.agent.id, spent)


def _succeed(tx: Tx, begun: Begun, text: str) -> None:
    """In one transaction: the last word of a silent agent, the acknowledgement, the end of attempt and job."""
    attempt, agent = _attempt_of(begun), begun.agent
    jobs.finish(tx, begun.job)
    _end(tx, attempt, "succeeded")
    mailbox.ack_attempt(tx, agent.id, attempt)
    if mailbox.has_queued(tx, agent.id):
        wake(tx, agent)
    if text.strip() and not operations.has_called(tx, attempt, channel.SEND):
        # Without a shared channel it is an answer, and wakes nobody.
        spoken = None if _has_context(begun.run) else ""
        words = Words(text, reply_to=begun.mail[-1].id, attempt=attempt, spoken=spoken)
        talk.say(tx, instances.get(tx, agent.instance), agent, words)
    tx.announce(Event(agent.stream, attempts.SUCCEEDED, attempt, {"agent": agent.id}, is_quiet=True))


def _fail(tx: Tx, begun: Begun, ended: Ended, retry: Retry) -> None:
    attempt, agent, error = _attempt_of(begun), begun.agent, _storable(ended.error)
    failures = begun.job.tries + 1
    _end(tx, attempt, "failed", error)
    facts = {"agent": agent.id, "failure": ended.failure, "error": error, "number": failures}
    again_at = tx.now + retry.delay(failures)
    if _is_over(tx, begun):
        jobs.fail(tx, begun.job, error)
        mailbox.take_back(tx, agent.id, attempt)
        tx.announce(Event(agent.stream, attempts.FAILED, attempt, facts, is_quiet=True))
        return
    if failures < retry.attempts and not _is_late(begun.job, again_at):
        jobs.retry(tx, begun.job, at=again_at, error=error)
        mailbox.take_back(tx, agent.id, attempt)
        tx.announce(Event(agent.stream, attempts.FAILED, attempt, facts, is_quiet=True))
        return
    jobs.fail(tx, begun.job, error)
    count = mailbox.park(tx, agent.id, attempt)
    tx.announce(Event(agent.stream, attempts.FAILED, attempt, {**facts, "parked": count}, is_quiet=True))
    if mailbox.has_queued(tx, agent.id):
        wake(tx, agent)
    times = "once" if failures == 1 else f"{failures} times"
    _tell_parked(tx, agent, f"failed {times}: {_first_line(error)}", count)


def _is_over(tx: Tx, begun: Begun) -> bool:
    """Whether its run has reached a limit: nothing is tried again, and the mail waits for whoever resumes it."""
    return begun.run is not None and budgets.reached(tx, begun.run.id) is not None


def _tell_parked(tx: Tx, agent: Agent, fact: str, count: int) -> None:
    """Nothing ends silently: the channel and the person hear of it."""
    instance = instances.get(tx, agent.instance)
    body = f"{agent.name} {fact}\n{count} message(s) for it are parked."
    talk.say(tx, instance, None, Words(body, to=(agents.PERSON,), kind="system"))


def _storable(error: str) -> str:
    """An agent's error as any database takes it."""
    return error.replace("\0", "\\0").encode(errors="replace").decode()[:2000]


def _first_line(error: str) -> str:
    """What fits into a notice; the event has more."""
    return (error.strip().splitlines() or ["no reason given"])[0][:300]


def interrupt(tx: Tx, agent: Agent) -> bool:
    """End what an agent is doing, wherever that is: its host finds the job gone. False if it does nothing."""
    is_cancelled = jobs.cancel(tx, attempt_key(agent))
    attempt = attempts.running(tx, agent.id)
    if attempt is None:
        return is_cancelled
    _end(tx, attempt.id, "interrupted")
    run = runs.live(tx, agent.instance)
    usage.record(tx, limits.scope_of(agent, run), agent.id, Spent(busy=tx.now - attempt.started_at))
    mailbox.take_back(tx, agent.id, attempt.id, is_failure=False)
    tx.announce(Event(agent.stream, attempts.INTERRUPTED, attempt.id, {"agent": agent.id}, is_quiet=True))
    return True


def _interrupt(tx: Tx, begun: Begun) -> None:
    """The host stops: the mail waits for the next one, and this does not count as a failure. The deadline is one."""
    attempt = _attempt_of(begun)
    if _is_late(begun.job, tx.now):
        _close(tx, begun, Ended("timeout", "it ran into its deadline"), Retry())
        return
    jobs.put_back(tx, begun.job)
    _record(tx, begun, Usage())
    _end(tx, attempt, "interrupted")
    mailbox.take_back(tx, begun.agent.id, attempt, is_failure=False)
    tx.announce(Event(begun.agent.stream, attempts.INTERRUPTED, attempt, {"agent": begun.agent.id}, is_quiet=True))


def _is_late(job: Job, moment: datetime) -> bool:
    return job.deadline is not None and job.deadline <= moment


def _end(tx: Tx, attempt: AttemptId, state: attempts.State, error: str | None = None) -> bool:
    """Close an attempt; what it had begun outside the store is of unknown outcome from now on."""
    operations.lose(tx, attempt)
    return attempts.end(tx, attempt, state, error)


def _attempt_of(begun: Begun) -> AttemptId:
    assert begun.caller.attempt is not None
    return begun.caller.attempt
