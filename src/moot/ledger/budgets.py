"""Budgets: what a run may use. Whoever begins an attempt asks first, under the lock of the budget's row.

What attempts cost is known when they end: those that run side by side may together go beyond a limit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from typing import ClassVar, Literal

from moot.core import durations
from moot.core.clock import MICROSECOND
from moot.core.errors import MootError
from moot.core.ids import RunId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger import usage
from moot.ledger.usage import DOLLAR, Usage
from moot.store import queries

sql = queries.beside(__file__)
Kind = Literal["cost", "time", "attempts", "tokens", "turns"]


class BudgetUsedUp(MootError):
    """A run cannot go on with what it may use."""

    code = "BUDGET_USED_UP"
    exit_code: ClassVar[int] = 3


@record
class Limits:
    """How much may be used; None is no limit. Money in millionths of a dollar, time in microseconds."""

    cost: int | None = None
    time: int | None = None
    attempts: int | None = None
    tokens: int | None = None
    turns: int | None = None


@record
class Guards:
    """When talk has gone on for too long; None is no limit."""

    hops: int | None
    ping_pong: int | None


@record
class Share:
    """How much of a limit is used."""

    kind: Kind
    limit: int
    used: int

    @property
    def is_reached(self) -> bool:
        return self.used >= self.limit

    @property
    def reason(self) -> str:
        """`budget: 200 attempts`."""
        return f"budget: {spell(self.kind, self.limit)}"


@record
class Budget:
    """A run's limits, and the time it has been live."""

    run: RunId
    cost: int | None
    time: int | None
    attempts: int | None
    tokens: int | None
    turns: int | None
    spent: int  # microseconds, before `since`
    since: datetime | None  # None while the run is not live

    @property
    def limits(self) -> Limits:
        return Limits(self.cost, self.time, self.attempts, self.tokens, self.turns)

    def elapsed(self, now: datetime) -> int:
        return self.spent + (max(0, (now - self.since) // MICROSECOND) if self.since else 0)


def open(tx: Tx, run: RunId, limits: Limits, guards: Guards) -> None:
    """A run starts."""
    tx.run(sql.open, run=run, **asdict(limits), hops=guards.hops, ping_pong=guards.ping_pong, now=tx.now)


def close(tx: Tx, run: RunId) -> None:
    """A run has ended: from now on its time stands still."""
    budget = find(tx, run)
    if budget is not None:
        tx.run(sql.rest, run=run, spent=budget.elapsed(tx.now))


def carry_on(
    tx: Tx,
    run: RunId,
    stream: StreamId,
    changes: Mapping[str, int | None],
    *,
    reached: str = "",
    is_last_left: bool = False,
) -> Budget | None:
    """A run goes on, with other limits if these are given; with nothing left, or too little as was found when a limit
    was `reached`, only if its last attempt is. If nobody ended it before, it was live until something last happened in
    its stream."""
    tx.lock("budgets", run)
    budget = find(tx, run)
    if budget is None:
        return None
    limits = replace(budget.limits, **changes)
    spent = budget.elapsed(tx.one(sql.last_sign, datetime, stream=stream))
    tx.run(sql.carry_on, run=run, **asdict(limits), spent=spent, now=tx.now)
    over = used_up(shares(tx, run), reached)
    if over and not is_last_left:
        fact = " and ".join(spell(share.kind, share.limit) for share in over)
        raise BudgetUsedUp(f"The run has used what it may: {fact}.", f"Raise it: {raising(over)}.")
    return find(tx, run)


def used_up(shares: Iterable[Share], reached: str) -> list[Share]:
    """What has to be raised: limits that are reached, or of which too little was left for what came next."""
    return [share for share in shares if share.is_reached or share.reason == reached]


def shares(tx: ReadTx, run: RunId) -> list[Share]:
    """How much of each limit is used."""
    budget = find(tx, run)
    if budget is None:
        return []
    used = usage.total(tx, run)
    return _shares(budget.limits, used, budget.elapsed(tx.now))


def own_shares(limits: Limits, used: Usage) -> list[Share]:
    """How much of each of an agent's own limits is used; its time is what its attempts took."""
    return _shares(limits, used, used.busy)


def find(tx: ReadTx, run: RunId) -> Budget | None:
    return tx.maybe(sql.find, Budget, run=run)


def guards(tx: ReadTx, run: RunId) -> Guards | None:
    """When talk in a run has gone on for too long."""
    return tx.maybe(sql.guards, Guards, run=run)


def spell(kind: Kind, amount: int) -> str:
    """`$10.00`, `$0.003`, `30 m 0 s`, `200 attempts`."""
    if kind == "cost":
        return f"${amount / DOLLAR:.2f}" if amount % (DOLLAR // 100) == 0 else f"${amount / DOLLAR:.6f}".rstrip("0")
    if kind == "time":
        return durations.spell(amount * MICROSECOND)
    return f"{amount} {kind}" if amount != 1 else f"1 {kind.removesuffix('s')}"


def spell_all(limits: Limits) -> str:
    """`$10.00, 30 m 0 s, 200 attempts`; empty if there is no limit."""
    return ", ".join(spell(share.kind, share.limit) for share in _shares(limits, Usage(), 0))


def raising(over: list[Share]) -> str:
    """How to go on with twice as much of what is used up."""
    return f"moot resume {raised(over)}"


def raised(over: list[Share]) -> str:
    """`--budget turns=4,cost=20`."""
    return f"--budget {','.join(_doubled(share) for share in over)}"


def _doubled(share: Share) -> str:
    amount = 2 * share.limit
    while amount <= share.used:
        amount *= 2
    if share.kind == "cost":
        return f"cost={amount / DOLLAR:.6f}".rstrip("0").rstrip(".")
    if share.kind == "time":
        return f"time={max(1, amount * MICROSECOND // timedelta(seconds=1))}s"
    return f"{share.kind}={amount}"


def _shares(limits: Limits, used: Usage, elapsed: int) -> list[Share]:
    amounts: dict[Kind, int] = {
        "cost": used.cost,
        "time": elapsed,
        "attempts": used.attempts,
        "tokens": used.tokens,
        "turns": used.turns,
    }
    given = {field.name: getattr(limits, field.name) for field in fields(limits)}
    return [Share(kind, given[kind], amount) for kind, amount in amounts.items() if given[kind] is not None]


def forget(tx: Tx, run: RunId) -> None:
    tx.run(sql.forget, run=run)
