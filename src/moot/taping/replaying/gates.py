"""Gates: jobs wait until it is their turn. An attempt begins when the recording has it begin, and what moot does by
itself is done when the recording has what comes of it: on the tape that may stand behind what others did meanwhile.

Whose turn it is not is put off, and released when it is. The note that is current may change at any moment: who was put
off while it did is found by the next look, because that, too, is a commit.
"""

from collections.abc import Mapping
from datetime import timedelta

from moot.core.ids import AgentId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job
from moot.ledger import stops
from moot.registry import agents, instances, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import handing_out, idle, limits, purses, refusals
from moot.runner.purses import Leave
from moot.runner.reactions.begin_talk import KICKOFF
from moot.runner.reactions.notify_people import NOTIFY
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.taping.flow_lines import Moved
from moot.taping.replaying import score
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.score import Note
from moot.taping.tape import Begin, End, Said
from moot.tools import asking, guards, verifying, voting

EXPIRIES = frozenset((voting.EXPIRE, asking.EXPIRE))
_TIME = frozenset((limits.TIME,))
_KINDS: Mapping[str, frozenset[str]] = {  # what moot says, and the jobs that say it; the others say all else
    "message": frozenset((KICKOFF,)),
    "system": frozenset((guards.LIMIT,)),
}
_OTHERS = EXPIRIES | {verifying.VERIFY}
PUT_OFF = timedelta(days=36_500)  # what has no turn yet: no timer is as far away


def jobs_behind(performance: Performance, note: Note | None) -> frozenset[str]:
    """The kinds of jobs by which moot itself may bring this about."""
    if isinstance(note, End) and performance.score.interrupted.get(note.attempt) == "system":
        return _TIME
    if isinstance(note, Moved) and note.came:
        return _OTHERS
    if not isinstance(note, Said) or not score.is_moot(note):
        return frozenset()
    outcome = performance.tape.outcome
    is_limited = note.kind == "system" and (outcome is None or outcome.state == "limit")
    if note.kind == "task":  # it is given where it can be
        return frozenset((handing_out.HAND_OUT,)) if performance.ungiven is note else frozenset()
    found = _KINDS.get(note.kind, _OTHERS)
    return found | _TIME if is_limited else found


def may_begin(performance: Performance, tx: Tx, job: Job) -> bool:
    """Whether it is the turn of this attempt; else its job is put off."""
    agent, current = agents.get(tx, AgentId(job.subject)), performance.turns.current
    if agent.instance != performance.instance or is_turn_of(performance, tx, job, current):
        return True
    jobs.postpone(tx, job, tx.now + PUT_OFF)
    return False


def may_do(performance: Performance, tx: Tx, job: Job) -> bool:
    """Whether it is the turn of what this job of moot itself brings about; else it is put off."""
    is_ours = job.stream == instances.get(tx, performance.instance).stream
    if is_ours and job.kind == NOTIFY:  # people have done already what they were called for
        jobs.finish(tx, job)
        return False
    if not is_ours or is_turn_of(performance, tx, job, performance.turns.current):
        return True
    jobs.postpone(tx, job, tx.now + PUT_OFF)
    return False


def is_turn_of(performance: Performance, tx: ReadTx, job: Job, note: Note | None) -> bool:
    if note is None:
        return not performance.is_cut
    if job.kind != ATTEMPT:
        return job.kind in jobs_behind(performance, note)
    agent = agents.get(tx, AgentId(job.subject))
    if isinstance(note, Begin):
        return note.agent == agent.name
    # Who has used up what was its own does not begin: it is told to be stopped.
    return isinstance(note, Said) and note.kind == "system" and score.is_moot(note) and _is_spent(tx, agent)


def leave(performance: Performance, tx: Tx, agent: Agent, run: Run | None) -> Leave | None:
    """On which terms an attempt begins that the recording has."""
    begin = performance.turns.current
    if agent.instance == performance.instance and isinstance(begin, Begin) and begin.agent == agent.name:
        return refusals.may_begin(tx, agent, run, begin.leave)
    return limits.may_begin(tx, agent, run)


def is_put_off(tx: ReadTx, job: Job) -> bool:
    return job.state == "queued" and job.run_at - tx.now > PUT_OFF / 2


def is_timer(tx: ReadTx, job: Job) -> bool:
    return job.kind in idle.HOUSEKEEPING and job.state == "queued" and job.run_at > tx.now


def hurry_next(tx: Tx, run: Run, kinds: frozenset[str]) -> bool:
    """The next timer of these is due now; False if there is none."""
    timers = [job for job in jobs.live(tx, run.stream) if job.kind in kinds and is_timer(tx, job)]
    timers.sort(key=lambda job: (not is_put_off(tx, job), job.run_at))
    for job in timers[:1]:
        jobs.hurry(tx, job.key)
    return bool(timers)


def release(tx: Tx, performance: Performance, run: Run, note: Note | None, *, wakes: bool = False) -> None:
    """Whose turn it is does not wait any longer: neither put off, nor for another try of what has failed."""
    for job in jobs.live(tx, run.stream):
        if (isinstance(note, Begin) or is_put_off(tx, job)) and is_turn_of(performance, tx, job, note):
            jobs.hurry(tx, job.key)
    if wakes:
        tx.wake()


def _is_spent(tx: ReadTx, agent: Agent) -> bool:
    stop = stops.find(tx, purses.scope_of(agent, runs.live(tx, agent.instance)), agent.id)
    return stop is not None and not stop.leaves(agent.id)
