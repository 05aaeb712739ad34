"""Limits of a run and of its agents: opened with the run, asked before every attempt, told once when reached.

Whoever finds that a run has reached one tells the channel in the same transaction, though that holds the stream while
others wait for it: the last attempt may be a short one, and must not be over before it is announced.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from moot.bus import mailbox
from moot.core.clock import MICROSECOND
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.ledger import budgets, journal, usage
from moot.ledger.budgets import Budget, Guards, Kind, Leave, Share
from moot.ledger.usage import Scope
from moot.registry import agents, instances, stopping
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner.terms import Terms, limits
from moot.tools import talk
from moot.tools.guards import LIMIT
from moot.tools.talk import Words
from moot.workflow.workflow import Workflow

TIME = "time_budget"
_SPENT: frozenset[Kind] = frozenset(("cost", "tokens", "turns"))  # what an attempt uses on its way
_LAST = 1.1


def open_for(tx: Tx, run: Run, workflow: Workflow) -> None:
    """A run starts: what it may use is counted from now."""
    guards = Guards(workflow.limits.hops, workflow.limits.ping_pong)
    budgets.open(tx, run.id, limits(workflow.budget), guards)
    _watch_time(tx, run, budgets.find(tx, run.id))


def carry_on(tx: Tx, run: Run, changes: Mapping[str, int | None]) -> None:
    """A run goes on, with what is left to it; BudgetUsedUp if nothing is."""
    _watch_time(tx, run, budgets.carry_on(tx, run.id, run.stream, changes))


def close(tx: Tx, run: Run) -> None:
    """A run has ended: its time stands still."""
    jobs.cancel(tx, time_key(run))
    jobs.cancel(tx, over_key(run))
    budgets.close(tx, run.id)


def scope_of(agent: Agent, run: Run | None) -> Scope:
    """Where what an agent uses is added up."""
    return agent.stream if run is None else run.id


def may_begin(tx: Tx, agent: Agent, run: Run | None, terms: Terms) -> Leave:
    """Whether an attempt may begin, and whether it is the run's last. An agent over its own limits is stopped."""
    scope = scope_of(agent, run)
    own = budgets.own_verdict(limits(terms.budget), usage.of_agent(tx, scope, agent.id))
    if own is not None:
        _stop(tx, agent, scope, own)
        return "none"
    if run is None:
        return "free"
    reserved = budgets.reserve(tx, run.id)
    if reserved.reached is not None:
        tell(tx, run, reserved.reached.reason)
    return reserved.leave


def overrun(tx: Tx, run: Run | None, *, is_last: bool) -> Share | None:
    """The limit that a run reaches while an attempt is at work. The last attempt has a tenth more, to sum up."""
    over = [] if run is None else [one for one in budgets.shares(tx, run.id) if one.is_reached and one.kind in _SPENT]
    if is_last:
        over = [one for one in over if one.used >= one.limit * _LAST]
    if run is None or not over:
        return None
    if budgets.stop(tx, run.id, over[0].reason, is_last_allowed=True):
        tell(tx, run, over[0].reason)
    return over[0]


def hold(tx: Tx, run: Run | None) -> None:
    """Whoever sets something aside does so alone: of several who ask at once, not all may find room."""
    if run is not None:
        tx.lock("budgets", run.id)


@dataclass(frozen=True, slots=True)
class Money:
    """What may be spent, what is, and what is set aside for requests that are under way."""

    share: Share
    limit: int
    reserved: int
    is_of_run: bool

    @property
    def left(self) -> int:
        return self.limit - self.share.used - self.reserved


def money(tx: Tx, run: Run | None, *, is_last: bool) -> Money | None:
    """That of a run, if it has a limit."""
    budget = None if run is None else budgets.find(tx, run.id)
    if run is None or budget is None or budget.cost is None:
        return None
    share = Share("cost", budget.cost, usage.total(tx, run.id).cost)
    limit = int(budget.cost * _LAST) if is_last else budget.cost
    return Money(share, limit, journal.reserved(tx, run.id), is_of_run=True)


def run_short(tx: Tx, run: Run | None, share: Share) -> None:
    """Nothing that costs as much can be begun any more: the run has reached its limit."""
    if run is not None and budgets.stop(tx, run.id, share.reason, is_last_allowed=True):
        tell(tx, run, share.reason)


def is_crowded(tx: Tx, run: Run, tokens: int, *, is_last: bool) -> bool:
    """Whether all turns that are left are being taken, or all tokens might be if the others take as many as this."""
    budget = budgets.find(tx, run.id)
    if budget is None or (budget.turns is None and budget.tokens is None):
        return False
    others, used, more = journal.under_way(tx, run.id), usage.total(tx, run.id), _LAST if is_last else 1
    if not others:
        return False
    if budget.turns is not None and used.turns + others >= budget.turns * more:
        return True
    return budget.tokens is not None and used.tokens + (others + 1) * tokens > budget.tokens * more


def tell(tx: Tx, run: Run, reason: str) -> None:
    words = f"The run has reached its {reason}. One last attempt, then it ends."
    talk.say(tx, instances.get(tx, run.instance), None, Words(words, to=(agents.PERSON,), kind="system", spoken=""))


def time_key(run: Run) -> str:
    return f"{TIME}:{run.id}"


def over_key(run: Run) -> str:
    return f"{TIME}:{run.id}:over"


def timer(run: Run, key: str, at: datetime) -> NewJob:
    return NewJob(key, TIME, run.stream, run.id, {"instance": run.instance}, run_at=at)


def _stop(tx: Tx, agent: Agent, scope: Scope, own: Share) -> None:
    stopping.stop(tx, agent)
    usage.stop(tx, scope, agent.id, own.reason)
    parked = mailbox.park_queued(tx, agent.id)
    facts = {"instance": agent.instance, "agent": agent.name, "reason": own.reason, "parked": parked}
    jobs.add(tx, NewJob(f"limit:{agent.id}", LIMIT, agent.stream, agent.id, facts))


def _watch_time(tx: Tx, run: Run, budget: Budget | None) -> None:
    if budget is not None and budget.time is not None:
        at = tx.now + max(0, budget.time - budget.spent) * MICROSECOND
        jobs.add(tx, timer(run, time_key(run), at))
