"""Limits of a run and of its agents: opened with the run, asked before every attempt, told once when reached."""

from collections.abc import Mapping
from datetime import datetime

from moot.bus import mailbox
from moot.core.clock import MICROSECOND
from moot.core.ids import AttemptId
from moot.core.text import counted
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.ledger import budgets, journal, stops, usage
from moot.ledger.budgets import Budget, Guards, Limits
from moot.registry import stopping
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import purses, terms
from moot.runner.begun import Start
from moot.runner.purses import MORE, Leave, Purse
from moot.workflow.workflow import Workflow

TIME = "time_budget"


def open_for(tx: Tx, run: Run, workflow: Workflow) -> None:
    """A run starts: what it may use is counted from now."""
    guards = Guards(workflow.limits.hops, workflow.limits.ping_pong)
    budgets.open(tx, run.id, terms.limits(workflow.budget), guards)
    _watch_time(tx, run, budgets.find(tx, run.id))


def carry_on(tx: Tx, run: Run, changes: Mapping[str, int | None]) -> None:
    """A run goes on, with what is left to it; BudgetUsedUp if nothing is. A last attempt is left to a run that was cut
    off before that was made."""
    stop = stops.find(tx, run.id)
    reached = "" if stop is None else stop.reason
    is_last_left = not changes and (stop is None or not stop.is_over)
    if not is_last_left:
        stops.lift(tx, run.id)
    _watch_time(tx, run, budgets.carry_on(tx, run.id, run.stream, changes, reached=reached, is_last_left=is_last_left))


def close(tx: Tx, run: Run, *, is_at_limit: bool = False) -> None:
    """A run has ended: its time stands still."""
    jobs.cancel(tx, time_key(run))
    jobs.cancel(tx, over_key(run))
    budgets.close(tx, run.id)
    if is_at_limit:
        stops.finish(tx, run.id)


def may_begin(tx: Tx, agent: Agent, run: Run | None) -> Leave | None:
    """None if no attempt may begin. An agent that has had its own last attempt is stopped."""
    found: dict[bool, str] = {}
    for purse in purses.of_agent(agent, run, own(agent)):
        answer = purses.ask(tx, purse, agent.id)
        if answer == "none":
            if not purse.is_of_run:
                _stop(tx, agent, purse)
            return None
        stop = stops.find(tx, purse.scope, purse.owner) if answer == "last" else None
        found[purse.is_of_run] = "" if stop is None else stop.reason
    return Leave(found.get(True, ""), found.get(False, ""))


def begin(tx: Tx, start: Start, attempt: AttemptId) -> None:
    """An attempt begins: it counts, and if it is the last there is none after it."""
    agent = start.agent
    usage.begin(tx, purses.scope_of(agent, start.run), agent.id)
    for purse in purses.of_agent(agent, start.run, own(agent), start.leave):
        if purse.is_last:
            purses.begin_last(tx, purse, agent.id, attempt)


def own(agent: Agent) -> Limits:
    """They are read from its definition, which takes longer than to look whether one is reached."""
    return terms.limits(terms.of_agent(agent).budget)


def is_over(tx: ReadTx, run: Run | None) -> bool:
    """Whether a run has reached a limit: nothing is tried again, and the mail waits for whoever resumes it."""
    return run is not None and stops.find(tx, run.id) is not None


def hold(tx: Tx, run: Run | None) -> None:
    """Whoever sets something aside does so alone: of several who ask at once, not all may find room."""
    if run is not None:
        tx.lock("budgets", run.id)


def is_crowded(tx: Tx, run: Run, tokens: int, *, is_last: bool) -> bool:
    """Whether all turns that are left are being taken, or all tokens might be if the others take as many as this."""
    budget = budgets.find(tx, run.id)
    if budget is None or (budget.turns is None and budget.tokens is None):
        return False
    others, used, more = journal.under_way(tx, run.id), usage.total(tx, run.id), MORE if is_last else 1
    if not others:
        return False
    if budget.turns is not None and used.turns + others >= budget.turns * more:
        return True
    return budget.tokens is not None and used.tokens + (others + 1) * tokens > budget.tokens * more


def time_key(run: Run) -> str:
    return f"{TIME}:{run.id}"


def over_key(run: Run) -> str:
    return f"{TIME}:{run.id}:over"


def timer(run: Run, key: str, at: datetime) -> NewJob:
    return NewJob(key, TIME, run.stream, run.id, {"instance": run.instance}, run_at=at)


def _stop(tx: Tx, agent: Agent, purse: Purse) -> None:
    stop = stops.find(tx, purse.scope, purse.owner)
    stopping.stop(tx, agent)
    parked = mailbox.park_queued(tx, agent.id)
    fact = f"{agent.name} is stopped ({'' if stop is None else stop.reason})."
    purses.tell(tx, agent.instance, f"{fact}\nParked for it: {counted(parked, 'message')}.")


def _watch_time(tx: Tx, run: Run, budget: Budget | None) -> None:
    if budget is not None and budget.time is not None:
        at = tx.now + max(0, budget.time - budget.spent) * MICROSECOND
        jobs.add(tx, timer(run, time_key(run), at))
