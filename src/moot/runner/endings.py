"""How an attempt ends: what it used is counted, its mail acknowledged or given back, its last words posted."""

from datetime import datetime

from moot.backends.backend import Conversation, Ended, Usage
from moot.bus import mailbox
from moot.core import json
from moot.core.events import Event
from moot.core.ids import AttemptId
from moot.core.text import MAX_TEXT, counted
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger import journal, operations, stops, usage
from moot.ledger.usage import DOLLAR, Spent
from moot.registry import agents, attempts, conversations, instances, runs
from moot.registry.agents import Agent
from moot.registry.conversations import Kept
from moot.runner import handing_out, limits, pausing, purses, terms
from moot.runner.begun import Begun
from moot.runner.flows import asking_agents
from moot.runner.pausing import Wait, first_line
from moot.runner.reactions.wake_agents import attempt_key, wake
from moot.runner.retry import Retry
from moot.runner.teams import section, turns
from moot.runner.teams.turns import Turn
from moot.tools import groups, talk, teamwork
from moot.tools.talk import Words

_CUT = "\n… (the rest was cut off)"


WARNED = "attempt_warned"


def close(tx: Tx, begun: Begun, ended: Ended, retry: Retry, told: Usage) -> None:
    """`told` is the part of what it used that was counted while it ran."""
    _record(tx, begun, ended.usage - told)
    _keep_conversation(tx, begun, ended)
    if ended.failure is None:
        _succeed(tx, begun, ended.text)
    elif ended.failure == "rate_limit" and (begun.leave.is_last or not limits.is_over(tx, begun.run)):
        _wait(tx, begun, ended, retry)
    else:
        _fail(tx, begun, ended, retry)


def _keep_conversation(tx: Tx, begun: Begun, ended: Ended) -> None:
    """Whether a failure speaks against going on with it, the backend knows."""
    found: Conversation | None = ended.conversation
    if found is None:
        if begun.conversation is not None:
            conversations.forget(tx, begun.agent.id)
        return
    used = found.used
    kept = Kept(
        found.handle,
        used.input_tokens,
        used.output_tokens,
        used.turns,
        round(used.cost * DOLLAR),
        used.is_estimated,
    )
    conversations.keep(tx, begun.agent.id, begun.agent.backend, kept)


def _wait(tx: Tx, begun: Begun, ended: Ended, retry: Retry) -> None:
    """A provider asks to wait: so do all who use it, and this counts as nobody's failure."""
    attempt, agent, error = begun.attempt, begun.agent, _storable(ended.error)
    wait = Wait(ended.provider or terms.provider(agent), error, ended.wait_until)
    until = tx.now if begun.is_played else pausing.pause(tx, agent.stream, wait, retry.backoff)
    if _is_late(begun.job, until):
        _fail(tx, begun, ended, retry)
        return
    end_attempt(tx, attempt, "failed", error)
    mailbox.take_back(tx, agent.id, attempt, is_failure=False)
    scope = purses.scope_of(agent, begun.run)
    usage.take_back(tx, scope, agent.id)
    stops.put_off(tx, scope, attempt)
    jobs.postpone(tx, begun.job, until)
    facts = {"agent": agent.id, "failure": ended.failure, "error": error, "number": begun.job.tries + 1}
    tx.announce(Event(agent.stream, attempts.FAILED, attempt, facts, is_quiet=True))


def _record(tx: Tx, begun: Begun, used: Usage) -> None:
    spent = Spent(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        turns=used.turns,
        dollars=used.cost,
        busy=tx.now - begun.at,
        is_estimated=used.is_estimated,
    )
    usage.record(tx, purses.scope_of(begun.agent, begun.run), begun.agent.id, spent)


def _succeed(tx: Tx, begun: Begun, text: str) -> None:
    """In one transaction: the last word of a silent agent, the acknowledgement, the end of attempt and job."""
    attempt, agent = begun.attempt, begun.agent
    jobs.finish(tx, begun.job)
    end_attempt(tx, attempt, "succeeded")
    mailbox.ack_attempt(tx, agent.id, attempt)
    if mailbox.has_queued(tx, agent.id):
        wake(tx, agent)
    if text.strip() and not _has_spoken(tx, begun):
        # Without a shared channel it is an answer, and wakes nobody.
        spoken = None if terms.has_context(begun.run) else ""
        words = Words(_sayable(text), reply_to=begun.mail[-1].id, attempt=attempt, spoken=spoken)
        talk.say(tx, instances.get(tx, agent.instance), agent, words)
    hand = begun.caller.token or ""
    if begun.run is not None and section.is_team(begun.run):
        turns.end(tx, Turn(begun.run, agent, hand, attempt, _sayable(text)))
    else:
        handing_out.finish(tx, agent, hand, _sayable(text))
    asking_agents.answered(tx, agent, attempt, [one.id for one in begun.mail], _sayable(text))
    tx.announce(Event(agent.stream, attempts.SUCCEEDED, attempt, {"agent": agent.id}, is_quiet=True))


def _has_spoken(tx: Tx, begun: Begun) -> bool:
    """Itself, or in an attempt before this one that it has gone on with."""
    if operations.has_called(tx, begun.attempt, groups.SEND):
        return True
    if not begun.tree.facts:  # it is the first
        return False
    return any(not json.load_object(one)["is_error"] for one in journal.results_of(tx, begun.tree.root, groups.SEND))


def _fail(tx: Tx, begun: Begun, ended: Ended, retry: Retry) -> None:
    attempt, agent, error = begun.attempt, begun.agent, _storable(ended.error)
    failures = begun.job.tries + 1
    end_attempt(tx, attempt, "failed", error)
    facts = {"agent": agent.id, "failure": ended.failure, "error": error, "number": failures}
    again_at = tx.now + retry.delay(failures)
    is_run_over = limits.is_over(tx, begun.run)
    if is_run_over or stops.find(tx, purses.scope_of(agent, begun.run), agent.id) is not None:
        jobs.fail(tx, begun.job, error)
        mailbox.take_back(tx, agent.id, attempt)
        tx.announce(Event(agent.stream, attempts.FAILED, attempt, facts, is_quiet=True))
        if ended.failure == "budget" or not is_run_over:  # it may be the one to sum up, or is to be stopped
            wake(tx, agent)
        return
    if failures < retry.attempts and not ended.is_final and not _is_late(begun.job, again_at):
        jobs.retry(tx, begun.job, at=again_at, error=error)
        mailbox.take_back(tx, agent.id, attempt)
        tx.announce(Event(agent.stream, attempts.FAILED, attempt, facts, is_quiet=True))
        return
    jobs.fail(tx, begun.job, error)
    failed = handing_out.fail(tx, agent, error)
    if begun.run is not None and section.is_team(begun.run):
        teamwork.look(tx, begun.run.id, agent.stream)
    steps = asking_agents.failed(tx, [one.id for one in begun.mail], error)
    for mail in begun.mail:
        if mail.task_id in failed or mail.id in steps:  # whoever tries the task again is told anew
            mailbox.ack_one(tx, agent.id, mail.seq)
    count = mailbox.park_until(tx, agent.id, attempt, attempts.first_try(tx, begun.job.id))
    tx.announce(Event(agent.stream, attempts.FAILED, attempt, {**facts, "parked": count}, is_quiet=True))
    if mailbox.has_queued(tx, agent.id):
        wake(tx, agent)
    times = "once" if failures == 1 else f"{failures} times"
    tell_parked(tx, agent, f"failed {times}: {first_line(error)}", count)


def tell_parked(tx: Tx, agent: Agent, fact: str, count: int) -> None:
    """Nothing ends silently: the channel and the person hear of it."""
    instance = instances.get(tx, agent.instance)
    body = f"{agent.name} {fact}" + (f"\nParked for it: {counted(count, 'message')}." if count else "")
    talk.say(tx, instance, None, Words(body, to=(agents.PERSON,), kind="system"))


def warn(tx: Tx, begun: Begun, text: str) -> None:
    """Something the person should know, that did not stop the attempt."""
    facts = {"agent": begun.agent.id, "text": _storable(text)}
    tx.announce(Event(begun.agent.stream, WARNED, begun.attempt, facts, is_quiet=True))


def _storable(error: str) -> str:
    """An agent's error as any database takes it."""
    return _valid(error)[:2000]


def _sayable(text: str) -> str:
    """Last words as the channel takes them: what was worked for is not lost for a character, or for too many."""
    valid = _valid(text)
    return valid if len(valid) <= MAX_TEXT else f"{valid[: MAX_TEXT - len(_CUT)]}{_CUT}"


def _valid(text: str) -> str:
    return text.replace("\0", "\\0").encode(errors="replace").decode()


def interrupt(tx: Tx, agent: Agent) -> bool:
    """End what an agent is doing, wherever that is: its host finds the job gone. False if it does nothing."""
    is_cancelled = jobs.cancel(tx, attempt_key(agent))
    attempt = attempts.running(tx, agent.id)
    if attempt is None:
        return is_cancelled
    end_attempt(tx, attempt.id, "interrupted")
    run = runs.live(tx, agent.instance)
    usage.record(tx, purses.scope_of(agent, run), agent.id, Spent(busy=tx.now - attempt.started_at))
    mailbox.take_back(tx, agent.id, attempt.id, is_failure=False)
    tx.announce(Event(agent.stream, attempts.INTERRUPTED, attempt.id, {"agent": agent.id}, is_quiet=True))
    return True


def restart(tx: Tx, agent: Agent) -> bool:
    """End what an agent is doing, and have it begin again with all its mail. False if it does nothing."""
    attempt = attempts.running(tx, agent.id)
    if attempt is None:
        return False
    interrupt(tx, agent)
    wake(tx, agent, after=attempt.id)
    return True


def interrupted(tx: Tx, begun: Begun, told: Usage) -> None:
    """The host stops: the mail waits for the next one, and this does not count as a failure. The deadline is one."""
    attempt = begun.attempt
    if _is_late(begun.job, tx.now):
        close(tx, begun, Ended("timeout", "it ran into its deadline", usage=told), Retry(), told)
        return
    jobs.put_back(tx, begun.job)
    _record(tx, begun, Usage(is_estimated=told.is_estimated))
    end_attempt(tx, attempt, "interrupted")
    mailbox.take_back(tx, begun.agent.id, attempt, is_failure=False)
    tx.announce(Event(begun.agent.stream, attempts.INTERRUPTED, attempt, {"agent": begun.agent.id}, is_quiet=True))


def _is_late(job: Job, moment: datetime) -> bool:
    return job.deadline is not None and job.deadline <= moment


def end_attempt(tx: Tx, attempt: AttemptId, state: attempts.State, error: str | None = None) -> bool:
    """Close an attempt; what it had begun outside the store is of unknown outcome from now on."""
    operations.lose(tx, attempt)
    journal.lose(tx, attempt)
    return attempts.end(tx, attempt, state, error)
