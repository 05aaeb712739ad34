"""What an attempt uses is counted as it is told, so that a limit ends it before it has gone far beyond. Who keeps a
journal asks before, and counts with what is on record."""

from moot.backends.backend import Counted, Usage
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.ledger import budgets, journal, usage
from moot.ledger.budgets import Limits, Share
from moot.ledger.usage import DOLLAR, Spent
from moot.registry.agents import Agent
from moot.runner import limits, terms
from moot.runner.begun import Begun
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


def refusal(tx: Tx, begun: Begun, cost: int, own: Limits) -> str | None:
    """Why an attempt may not ask for what may cost this many millionths of a dollar. `own` are its agent's limits."""
    over = _own_limit(tx, begun, own) or limits.overrun(tx, begun.run, is_last=begun.is_last)
    if over is not None:
        return f"stopped at the {over.reason}"
    if not cost:
        return None
    short = _own_shortage(tx, begun, cost, own) or limits.is_short(tx, begun.run, cost, is_last=begun.is_last)
    if short is None:
        return None
    left = max(short.limit - short.used, 0) / DOLLAR
    return f"stopped at the {short.reason} (${left:.4f} is left, and the next answer may cost ${cost / DOLLAR:.4f})"


def _own_shortage(tx: Tx, begun: Begun, cost: int, own: Limits) -> Share | None:
    """The agent's own money, if less than this much of it is left."""
    most = own.cost
    if most is None:
        return None
    scope, agent = limits.scope_of(begun.agent, begun.run), begun.agent.id
    used = usage.of_agent(tx, scope, agent).cost + journal.reserved(tx, scope, agent)
    return Share("cost", most, used) if used + cost > most else None


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
