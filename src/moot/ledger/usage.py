"""Usage: what the attempts of each agent have cost, added up in a run, or in an instance's stream while none is live.

Money is counted in millionths of a dollar and time in microseconds, so that sums are exact.
"""

import math
from datetime import timedelta

from moot.core import records
from moot.core.clock import MICROSECOND
from moot.core.ids import AgentId, RunId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
DOLLAR = 1_000_000
_MOST = 10**15
Scope = RunId | StreamId


@records.record
class Spent:
    """What one attempt has used."""

    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    dollars: float = 0.0
    busy: timedelta = timedelta(0)
    is_estimated: bool = False  # the price is not known for certain


@records.record
class Usage:
    """What was used so far."""

    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    cost: int = 0
    busy: int = 0
    is_estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def dollars(self) -> float:
        return self.cost / DOLLAR


def begin(tx: Tx, scope: Scope, agent: AgentId) -> None:
    """An attempt starts: it counts, whatever becomes of it."""
    tx.run(sql.begin, scope=scope, agent=agent)


def take_back(tx: Tx, scope: Scope, agent: AgentId) -> None:
    """An attempt was turned away before it could work: it does not count after all."""
    tx.run(sql.take_back, scope=scope, agent=agent)


def record(tx: Tx, scope: Scope, agent: AgentId, spent: Spent) -> None:
    """An attempt has ended, well or badly, or is a step further."""
    input_tokens, output_tokens = _bounded(spent.input_tokens), _bounded(spent.output_tokens)
    cost = _bounded(spent.dollars * DOLLAR)
    if input_tokens or output_tokens or cost:
        tx.put(sql.note, scope=scope, agent=agent, now=tx.micros, tokens=input_tokens + output_tokens, cost=cost)
    tx.run(
        sql.record,
        scope=scope,
        agent=agent,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        turns=_bounded(spent.turns),
        cost=cost,
        busy=spent.busy // MICROSECOND,
        is_estimated=spent.is_estimated,
    )


def _bounded(amount: float) -> int:
    """Programs may tell anything; sums stay within what databases can hold."""
    if -_MOST <= amount <= _MOST:
        return round(amount)
    return (_MOST if amount > 0 else -_MOST) if math.isfinite(amount) else 0


def total(tx: ReadTx, scope: Scope) -> Usage:
    """What all have used together."""
    return tx.one(sql.total, Usage, scope=scope)


def of_agent(tx: ReadTx, scope: Scope, agent: AgentId) -> Usage:
    return tx.maybe(sql.of_agent, Usage, scope=scope, agent=agent) or Usage()


_NOBODY = AgentId("")


@records.record
class _Share(Usage):
    agent: AgentId = _NOBODY


def by_agent(tx: ReadTx, scope: Scope) -> dict[AgentId, Usage]:
    return {share.agent: share for share in tx.all(sql.by_agent, _Share, scope=scope)}


def forget(tx: Tx, scope: Scope) -> None:
    tx.run(sql.forget, scope=scope)
    tx.run(sql.forget_notes, scope=scope)
