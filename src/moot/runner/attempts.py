"""One attempt, from the mail that woke an agent to the acknowledgement of exactly what was handed over."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import field, replace
from datetime import timedelta
from functools import partial

from moot.backends.backend import Assignment, Backend, Briefing, Conversation, Ended, Letter, Progress, Usage, Warned
from moot.bus import mailbox
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core import durations, quoting
from moot.core.caller import SYSTEM, Caller
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import AgentId, HostId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.ledger import pauses
from moot.ledger.usage import DOLLAR
from moot.registry import agents, attempts, conversations, runs, tokens
from moot.registry.agents import Agent
from moot.registry.attempts import NewAttempt
from moot.registry.runs import Run
from moot.registry.tokens import Grant
from moot.runner import endings, guidance, handing_out, journals, limits, more_mail, prompts, scene, terms
from moot.runner.begun import Begun, Equip, Kit, Start
from moot.runner.flows import section
from moot.runner.guidance import Circumstances
from moot.runner.journals import Signs
from moot.runner.prompts import Occasion
from moot.runner.purses import Leave
from moot.runner.reactions.wake_agents import may_run
from moot.runner.retry import Retry
from moot.runner.scene import Scene
from moot.runner.session_requests import SessionRequests
from moot.runner.spending import Spending
from moot.runner.trails import Trails
from moot.runner.worker import Task
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.store.store import Store
from moot.workflow import stored

_log = logging.getLogger("moot.runner")
BATCH = 50  # messages handed over at once; the rest follow in the next attempt
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, None)  # seconds between tries to write an end down, within the lease
UNATTENDED = timedelta(seconds=5)  # until a run that nobody attends is looked at again
MOST_LOSSES = 10  # hosts that may vanish over one delivery before it is parked


@record
class AttemptWorker:
    """Carries out the jobs of kind `attempt`."""

    store: Store
    host: HostId
    backends: Mapping[str, Backend]
    equip: Equip
    retry: Retry = field(default_factory=Retry)
    time_limit: timedelta = timedelta(hours=1)
    trails: Trails | None = None  # where people can look at what agents do
    signs: Signs = field(default_factory=Signs)
    is_played: Callable[[Agent], bool] = lambda agent: False  # from a recording
    may_begin: Callable[[Tx, Agent, Run | None], Leave | None] = limits.may_begin

    def begin(self, tx: Tx, job: Job) -> Task | None:
        tx.lock("agents", job.subject)
        agent = agents.get(tx, AgentId(job.subject))
        run = runs.live(tx, agent.instance)
        if not may_run(agent, run) or not mailbox.has_queued(tx, agent.id):
            jobs.finish(tx, job)
            return None
        if run is not None and not runs.is_attended(tx, run):
            # Looked at again: whoever attends it may be asleep, or be resuming it this very moment.
            jobs.postpone(tx, job, tx.now + UNATTENDED)
            return None
        leave = self.may_begin(tx, agent, run)
        if leave is None:  # its mail waits for whoever resumes the run
            jobs.finish(tx, job)
            return None
        is_played = self.is_played(agent)
        found = [pauses.of_provider(tx, one) for one in terms.providers(agent)]
        if all(found) and not is_played:  # else another of its models may answer
            jobs.postpone(tx, job, min(pause.until for pause in found if pause))
            return None
        begun = _begin(tx, Start(job, agent, run, leave), self.host)
        return partial(self._carry_out, replace(begun, is_played=is_played))

    def late(self, tx: Tx, job: Job) -> None:
        """Nobody was in time: the mail that waits is parked, and the person told."""
        tx.lock("agents", job.subject)
        count = mailbox.park_queued(tx, AgentId(job.subject))
        if count:
            endings.tell_parked(tx, agents.get(tx, AgentId(job.subject)), "was not started before its deadline", count)

    def lost(self, tx: Tx, job: Job) -> None:
        """The host of an attempt is gone: its mail waits again, unless this happened too often."""
        for attempt in attempts.of_job(tx, job.id):
            if not endings.end_attempt(tx, attempt.id, "lost", "its host disappeared"):
                continue
            tx.announce(Event(job.stream, attempts.LOST, attempt.id, {"agent": attempt.agent}, is_quiet=True))
            if job.losses < MOST_LOSSES:
                mailbox.take_back(tx, attempt.agent, attempt.id, is_failure=False)
            else:
                count = mailbox.park(tx, attempt.agent, attempt.id)
                endings.tell_parked(tx, agents.get(tx, attempt.agent), f"lost its host {job.losses} times", count)

    async def _carry_out(self, begun: Begun) -> None:
        spending, requests = Spending(self.store, begun), SessionRequests(self.store, begun.caller)
        try:
            ended = await self._run(begun, spending, requests)
        except asyncio.CancelledError:
            await self._settle(begun, partial(endings.interrupted, told=spending.told))
            raise
        await requests.withdraw()
        retry = self.retry.but(terms.of_agent(begun.agent).retry)
        close = partial(endings.close, retry=retry, told=spending.told)
        try:
            await self._settle(begun, partial(close, ended=ended))
        except (StoreBusy, StoreUnavailable):
            raise  # it is not known, or cannot be: the attempt is repeated when its lease has run out
        except Exception as error:  # noqa: BLE001  # its last words cannot be posted, say: that is a failure, too
            _log.exception("what %s came to cannot be written down", begun.agent.name)
            failed = Ended("error", f"its end cannot be written down: {error}", usage=ended.usage)
            await self._settle(begun, partial(close, ended=failed))

    async def _run(self, begun: Begun, spending: Spending, requests: SessionRequests) -> Ended:
        """Whatever goes wrong in a backend is this agent's failure and nobody else's."""
        limit = terms.of_agent(begun.agent).timeout or self.time_limit
        try:
            end = requests.hours.now() + limit.total_seconds()
            async with requests.hours.until(end), self.equip(begun) as kit:
                return await self._play(begun, self._assignment(begun, kit, requests), spending)
        except TimeoutError:
            return Ended("timeout", f"it ran longer than {durations.spell(limit)}", usage=spending.told)
        except MootError as error:
            return Ended("error", f"{error.code}: {error}", usage=spending.told)
        except Exception as error:  # noqa: BLE001  # the boundary of an agent's run
            _log.exception("the backend of %s crashed", begun.agent.name)
            return Ended("crash", f"{type(error).__name__}: {error}", usage=spending.told)

    async def _play(self, begun: Begun, assignment: Assignment, spending: Spending) -> Ended:
        backend = self.backends.get(begun.agent.backend)
        if backend is None:
            return Ended("error", f"this host has no backend {begun.agent.backend!r}")
        trail = self.trails.open(begun) if self.trails else nullcontext()
        with trail as noted:
            async with aclosing(backend.run(assignment)) as running:
                async for progress in running:
                    if noted is not None:
                        noted.note(progress)
                    ended = await self._heed(begun, progress, spending)
                    if ended is not None:
                        return ended
        return Ended("no_result", "it ended without a result", usage=spending.told)

    async def _heed(self, begun: Begun, progress: Progress, spending: Spending) -> Ended | None:
        """Its end, if it is over: by itself, or because it has used up what it may."""
        match progress:
            case Ended():
                return progress
            case Usage():
                over = await spending.count(progress)
                return None if over is None else Ended("budget", f"stopped at the {over.reason}", usage=spending.told)
            case Warned():
                await self.store.write(lambda tx: endings.warn(tx, begun, progress.text), caller=SYSTEM)
                return None
            case _:
                return None

    def _assignment(self, begun: Begun, kit: Kit, requests: SessionRequests) -> Assignment:
        return journals.Kept(
            agent=begun.agent.name,
            instance=begun.agent.instance,
            attempt=begun.attempt,
            settings=begun.agent.settings,
            manner=terms.manner(begun.agent),
            inbox=_letters(begun.mail),
            number=begun.job.tries + 1,
            toolbox=kit.toolbox,
            brief=partial(self._brief, begun),
            more=partial(self._more, begun),
            access=kit.access,
            workspace=kit.workspace,
            folder=kit.folder,
            conversation=begun.conversation,
            journal=partial(journals.open, self.store, begun, self.signs),
            expand=partial(guidance.expanded, begun.run),
            requests=requests,
            guardian=kit.guardian,
        )

    async def _more(self, begun: Begun) -> tuple[Letter, ...]:
        return _letters(await more_mail.wait(self.store, begun, BATCH))

    async def _brief(self, begun: Begun) -> Briefing:
        found = await self.store.read(lambda tx: scene.look(tx, begun))
        return _briefing(begun, found)

    async def _settle(self, begun: Begun, change: Callable[[Tx, Begun], None]) -> None:
        """A store that cannot write for a moment costs nobody the work of an attempt."""
        for pause in _PAUSES:
            try:
                await self.store.write(lambda tx: change(tx, begun), caller=SYSTEM)
            except JobLost as error:
                _log.warning("the result of %s came too late: %s", begun.agent.name, error)
            except (StoreBusy, StoreUnavailable):
                if pause is None:
                    raise
                await asyncio.sleep(pause)
                continue
            return


def _begin(tx: Tx, start: Start, host: HostId) -> Begun:
    job, agent, run = start.job, start.agent, start.run
    number, token = job.tries + 1, tokens.new_text()
    new = NewAttempt(agent.id, agent.stream, job.id, job.fence, number, host, run.id if run else None)
    attempt = attempts.start(tx, new)
    limits.begin(tx, start, attempt)
    if number == 1:
        mailbox.rejoin(tx, agent.id, attempt)
    mail = mailbox.hand_out(tx, agent.id, attempt, BATCH)
    attempts.led_by(tx, attempt, max((one.hops for one in mail), default=0))
    groups = terms.held(agent, run)
    id = tokens.mint(tx, token, Grant("attempt", agent.instance, agent.role, agent.id, groups, attempt))
    caller = Caller(agent.name, agent.role, agent.instance, agent.id, id, attempt, job.fence, groups)
    handing_out.take_in_hand(tx, agent.id, id)
    conversation = _conversation(tx, agent)
    tree = journals.tree(tx, start, mail)
    return Begun(job, agent, run, start.leave, tuple(mail), caller, token, tx.now, tree, conversation)


def _briefing(begun: Begun, found: Scene) -> Briefing:
    has_context = terms.has_context(begun.run)
    occasion = Occasion(begun.agent, begun.mail, begun.job.tries + 1, has_context)
    own = guidance.expanded(begun.run, terms.of_agent(begun.agent).system_prompt)
    return Briefing(
        request=prompts.request(occasion, found),
        prompt=prompts.prompt(occasion, found, quoting.new_nonce()),
        system_prompt=guidance.system_prompt(own, begun.caller.groups, _circumstances(begun)),
    )


def _circumstances(begun: Begun) -> Circumstances:
    run = begun.run
    return Circumstances(
        terms.has_context(run),
        has_steps=run is not None and section.has_steps(run),
        hands_off=run is not None and begun.agent.name in stored.workers(run.definition),
    )


def _letters(mail: tuple[Mail, ...]) -> tuple[Letter, ...]:
    return tuple(_letter(one) for one in mail)


def _letter(message: Message | Mail) -> Letter:
    return Letter(message.id, message.seq, message.sender, message.body, message.kind, message.priority, message.at)


def _conversation(tx: ReadTx, agent: Agent) -> Conversation | None:
    if not terms.manner(agent).keeps_conversation:
        return None
    kept = conversations.of_agent(tx, agent.id, agent.backend)
    if kept is None:
        return None
    used = Usage(kept.input_tokens, kept.output_tokens, kept.turns, kept.cost / DOLLAR, kept.is_estimated)
    return Conversation(kept.handle, used)
