"""What an attempt uses is counted as it is told, so that a limit ends it before it has gone far beyond. Who keeps a
journal asks before, and counts with what is on record."""

from moot.backends.backend import Counted, Usage
from moot.core.caller import SYSTEM
from moot.core.records import record
from moot.core.tx import Tx
from moot.ledger import usage
from moot.ledger.budgets import Limits, Share
from moot.ledger.usage import DOLLAR, Spent
from moot.runner import limits, purses
from moot.runner.begun import Begun
from moot.runner.purses import Money, Purse
from moot.store.store import Store


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
    add(tx, begun, used)
    return _overrun(tx, held(begun, limits.own(begun.agent)))


def add(tx: Tx, begun: Begun, used: Usage) -> None:
    """Whether it is certain is told at the end: on the way everything is a guess."""
    spent = Spent(used.input_tokens, used.output_tokens, used.turns, used.cost)
    usage.record(tx, purses.scope_of(begun.agent, begun.run), begun.agent.id, spent)


def held(begun: Begun, own: Limits) -> list[Purse]:
    """All that an attempt is paid from. `own` are its agent's limits."""
    return purses.of_agent(begun.agent, begun.run, own, begun.leave)


def _overrun(tx: Tx, held: list[Purse]) -> Share | None:
    """The first limit that is reached; that others are is noted, too."""
    over = [purses.overrun(tx, one) for one in held]
    return next((share for share in over if share is not None), None)


@record
class Wanted:
    """What a request may take: millionths of a dollar, the same for a short answer, and tokens."""

    cost: int
    least: int
    tokens: int
    is_replaceable: bool = False  # by what may cost less


@record
class Refusal:
    reason: str
    left: int = 0  # for which a shorter answer may be had
    is_passing: bool = False  # others have set aside what they may not need


def refusal(tx: Tx, begun: Begun, wanted: Wanted, held: list[Purse]) -> Refusal | None:
    """Why an attempt that is paid from these may not ask for this."""
    over = _overrun(tx, held) if held else None
    if over is not None:
        return Refusal(f"stopped at the {over.reason}")
    if begun.run is not None and limits.is_crowded(tx, begun.run, wanted.tokens, is_last=begun.leave.is_last):
        return Refusal("others are being answered", is_passing=True)
    if not wanted.cost:
        return None
    for purse in held:
        money = purses.money(tx, purse)
        if money is not None and money.left < wanted.cost:
            return _shortage(tx, purse, money, wanted)
    return None


def _shortage(tx: Tx, purse: Purse, money: Money, wanted: Wanted) -> Refusal:
    asks = f"the next answer may cost ${wanted.least / DOLLAR:.4f}"
    reason = f"stopped at the {money.share.reason} (${max(money.left, 0) / DOLLAR:.4f} is left, and {asks})"
    if wanted.cost <= money.left + money.reserved:
        return Refusal(reason, is_passing=True)
    if wanted.least <= money.left:
        return Refusal(reason, left=money.left)
    if wanted.least <= money.left + money.reserved:
        return Refusal(reason, is_passing=True)
    if not wanted.is_replaceable:
        purses.reach(tx, purse, money.share)  # nothing that costs as much can be begun any more
    return Refusal(reason)
