"""What an attempt uses is counted as it is told, so that a limit ends it before it has gone far beyond. Who keeps a
journal asks before, and counts with what is on record."""

from moot.backends.backend import Counted, Usage
from moot.core.caller import SYSTEM
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import budgets, journal, usage
from moot.ledger.budgets import Limits, Share
from moot.ledger.usage import DOLLAR, Spent
from moot.registry.agents import Agent
from moot.runner import limits, terms
from moot.runner.begun import Begun
from moot.runner.limits import Money
from moot.store.store import Store

_NONE = Limits()


class Spending:
    """Of one attempt. `told` is what was counted so far."""

    def __init__(self, store: Store, begun: Begun) -> None:
        self._store = store
        self._begun = begun
        self.told = Usage()

    async def count(self, used: Usage) -> Share | None:
        """The limit that is reached by now, if any: the run's or the agent's own."""
        self.told += used
        if isinstance(used, Counted):
            return None
        return await self._store.write(lambda tx: _count(tx, self._begun, used), caller=SYSTEM)


def _count(tx: Tx, begun: Begun, used: Usage) -> Share | None:
    agent, scope = begun.agent, limits.scope_of(begun.agent, begun.run)
    # Whether it is certain is told at the end: on the way everything is a guess.
    spent = Spent(used.input_tokens, used.output_tokens, used.turns, used.cost)
    usage.record(tx, scope, agent.id, spent)
    return own_limit(tx, begun) or limits.overrun(tx, begun.run, is_last=begun.is_last)


@record
class Wanted:
    """What a request may take: millionths of a dollar, the same for a short answer, and tokens."""

    cost: int
    least: int
    tokens: int


@record
class Refusal:
    reason: str
    left: int = 0  # for which a shorter answer may be had
    is_passing: bool = False  # others have set aside what they may not need


def refusal(tx: Tx, begun: Begun, wanted: Wanted, own: Limits) -> Refusal | None:
    """Why an attempt may not ask for this. `own` are its agent's limits."""
    over = _own_limit(tx, begun, own) or limits.overrun(tx, begun.run, is_last=begun.is_last)
    if over is not None:
        return Refusal(f"stopped at the {over.reason}")
    if begun.run is not None and limits.is_crowded(tx, begun.run, wanted.tokens, is_last=begun.is_last):
        return Refusal("others are being answered", is_passing=True)
    if not wanted.cost:
        return None
    for money in (_own_money(tx, begun, own), limits.money(tx, begun.run, is_last=begun.is_last)):
        if money is not None and money.left < wanted.cost:
            return _shortage(tx, begun, money, wanted)
    return None


def _shortage(tx: Tx, begun: Begun, money: Money, wanted: Wanted) -> Refusal:
    asks = f"the next answer may cost ${wanted.least / DOLLAR:.4f}"
    reason = f"stopped at the {money.share.reason} (${max(money.left, 0) / DOLLAR:.4f} is left, and {asks})"
    if wanted.cost <= money.left + money.reserved:
        return Refusal(reason, is_passing=True)
    if wanted.least <= money.left:
        return Refusal(reason, left=money.left)
    if wanted.least <= money.left + money.reserved:
        return Refusal(reason, is_passing=True)
    if money.is_of_run:
        limits.run_short(tx, begun.run, money.share)
    return Refusal(reason)


def _own_money(tx: Tx, begun: Begun, own: Limits) -> Money | None:
    if own.cost is None:
        return None
    scope, agent = limits.scope_of(begun.agent, begun.run), begun.agent.id
    share = Share("cost", own.cost, usage.of_agent(tx, scope, agent).cost)
    return Money(share, own.cost, journal.reserved(tx, scope, agent), is_of_run=False)


def own_limits(agent: Agent) -> Limits:
    """They are read from its definition, which takes longer than to look whether one is reached."""
    return terms.limits(terms.of_agent(agent).budget)


def own_limit(tx: Tx, begun: Begun) -> Share | None:
    """The agent's own limit that is reached."""
    return _own_limit(tx, begun, own_limits(begun.agent))


def _own_limit(tx: Tx, begun: Begun, own: Limits) -> Share | None:
    if own == _NONE:
        return None
    return budgets.own_verdict(own, usage.of_agent(tx, limits.scope_of(begun.agent, begun.run), begun.agent.id))
