"""Purses: what a run as a whole, and an agent on its own, may use. One rule holds for both: when a limit is reached,
the channel and the person hear of it once, one last attempt is begun to finish and sum up, and none after it.

Whoever finds a limit reached tells the channel in the same transaction, though that holds the stream while others wait
for it: the last attempt may be a short one, and must not be over before it is announced.
"""

from fractions import Fraction
from typing import Literal

from moot.core.ids import AgentId, AttemptId, InstanceName, RunId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger import budgets, journal, stops, usage
from moot.ledger.budgets import Kind, Limits, Share
from moot.ledger.usage import Scope
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.tools import talk
from moot.tools.talk import Words

Answer = Literal["free", "last", "none"]
_SPENT: frozenset[Kind] = frozenset(("cost", "tokens", "turns"))  # what an attempt uses on its way
MORE = Fraction(11, 10)  # of a limit: what the last attempt has, to sum up
_NONE = Limits()


@record
class Leave:
    """That an attempt may begin, and the limits because of which it is the last of the run, or of its agent."""

    by_run: str = ""
    by_agent: str = ""

    @property
    def is_last(self) -> bool:
        return bool(self.by_run)

    @property
    def is_own_last(self) -> bool:
        return bool(self.by_agent)

    @property
    def reason(self) -> str:
        return self.by_run or self.by_agent


FREE = Leave()


@record
class Purse:
    """Of a run, or of one agent."""

    scope: Scope
    instance: InstanceName
    name: str
    is_last: bool  # for the attempt that it is looked at for
    owner: AgentId = stops.ALL
    own: Limits = _NONE  # those of a run are on record with it

    @property
    def is_of_run(self) -> bool:
        return self.owner == stops.ALL


@record
class Money:
    """What may be spent, what is, and what is set aside for requests that are under way."""

    share: Share
    limit: int
    reserved: int

    @property
    def left(self) -> int:
        return self.limit - self.share.used - self.reserved


def of_run(run: Run, *, is_last: bool = False) -> Purse:
    return Purse(run.id, run.instance, "The run", is_last)


def scope_of(agent: Agent, run: Run | None) -> Scope:
    """Where what an agent uses is added up."""
    return agent.stream if run is None else run.id


def of_agent(agent: Agent, run: Run | None, own: Limits, leave: Leave = FREE) -> list[Purse]:
    """All that an attempt of the agent is paid from."""
    found = [] if run is None else [of_run(run, is_last=leave.is_last)]
    if own != _NONE:
        found.append(Purse(scope_of(agent, run), agent.instance, agent.name, leave.is_own_last, agent.id, own))
    return found


def shares(tx: ReadTx, purse: Purse) -> list[Share]:
    """How much of each limit is used."""
    if purse.is_of_run:
        return budgets.shares(tx, RunId(purse.scope))
    return budgets.own_shares(purse.own, usage.of_agent(tx, purse.scope, purse.owner))


def ask(tx: Tx, purse: Purse, agent: AgentId) -> Answer:
    """Whether this agent may begin an attempt. Of several who ask at a limit, one begins the last."""
    if purse.is_of_run:
        tx.lock("budgets", purse.scope)
    stop = stops.find(tx, purse.scope, purse.owner)
    if stop is not None:
        return "last" if stop.leaves(agent) else "none"
    over = next((share for share in shares(tx, purse) if share.is_reached), None)
    if over is None:
        return "free"
    reach(tx, purse, over)
    return "last"


def begin_last(tx: Tx, purse: Purse, agent: AgentId, attempt: AttemptId) -> None:
    stops.begin_last(tx, purse.scope, purse.owner, by=agent, attempt=attempt)


def overrun(tx: Tx, purse: Purse) -> Share | None:
    """The limit that is reached while an attempt is at work."""
    more = MORE if purse.is_last else 1
    over = [one for one in shares(tx, purse) if one.kind in _SPENT and one.used >= one.limit * more]
    if not over:
        return None
    reach(tx, purse, over[0])
    return over[0]


def reach(tx: Tx, purse: Purse, share: Share) -> None:
    """It is told once."""
    if stops.reach(tx, purse.scope, share.reason, owner=purse.owner):
        tell(tx, purse.instance, notice(share.reason, "" if purse.is_of_run else purse.name))


def notice(reason: str, agent: str) -> str:
    """Of a limit that is reached; without an agent it is the run's."""
    who, end = (agent, "it is stopped") if agent else ("The run", "it ends")
    return f"{who} has reached its {reason}. One last attempt, then {end}."


def tell(tx: Tx, instance: InstanceName, body: str) -> None:
    talk.say(tx, instances.get(tx, instance), None, Words(body, to=(agents.PERSON,), kind="system", spoken=""))


def money(tx: ReadTx, purse: Purse) -> Money | None:
    """None if it may cost whatever it does."""
    share = next((one for one in shares(tx, purse) if one.kind == "cost"), None)
    if share is None:
        return None
    reserved = journal.reserved(tx, purse.scope, None if purse.is_of_run else purse.owner)
    return Money(share, int(share.limit * MORE) if purse.is_last else share.limit, reserved)
