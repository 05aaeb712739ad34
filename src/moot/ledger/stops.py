"""Stops: the limits that were reached, by a run as a whole or by one agent on its own.

Each leaves one last attempt, to finish and sum up. Whether that is still to be made is told by what has become of it:
if its host was lost, or it was interrupted, it was not made.
"""

from moot.core.ids import AgentId, AttemptId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger.usage import Scope
from moot.store import queries

sql = queries.beside(__file__)
ALL = AgentId("")  # stands for the run as a whole
_UNDONE = (None, "lost", "interrupted")


@record
class Stop:
    """A limit that was reached."""

    reason: str
    heir: AgentId | None  # whose the last attempt is; None: whoever comes first
    is_final: bool  # nothing begins any more
    last: str | None  # the state of the last attempt, once it has begun

    @property
    def is_over(self) -> bool:
        """Whether the last attempt was made, or cannot be."""
        return self.is_final or self.last not in (*_UNDONE, "running")

    def leaves(self, agent: AgentId) -> bool:
        """Whether this agent may begin the last attempt."""
        return not self.is_final and self.heir in (None, agent) and self.last in _UNDONE


@record
class Own:
    """An agent that has reached a limit of its own."""

    agent: AgentId
    reason: str


def reach(
    tx: Tx, scope: Scope, reason: str, *, owner: AgentId = ALL, heir: AgentId | None = None, is_final: bool = False
) -> bool:
    """False if a limit was reached before."""
    return bool(tx.run(sql.reach, scope=scope, agent=owner, reason=reason, heir=heir, is_final=is_final))


def find(tx: ReadTx, scope: Scope, owner: AgentId = ALL) -> Stop | None:
    return tx.maybe(sql.find, Stop, scope=scope, agent=owner)


def begin_last(tx: Tx, scope: Scope, owner: AgentId, *, by: AgentId, attempt: AttemptId) -> None:
    """Nobody else begins one, unless this is lost or interrupted."""
    tx.run(sql.begin_last, scope=scope, agent=owner, heir=by, attempt=attempt)


def put_off(tx: Tx, scope: Scope, attempt: AttemptId) -> None:
    """A last attempt was turned away before it could work."""
    tx.run(sql.put_off, scope=scope, attempt=attempt)


def finish(tx: Tx, scope: Scope, owner: AgentId = ALL) -> None:
    """No attempt begins any more, the last one included."""
    tx.run(sql.finish, scope=scope, agent=owner)


def of_agents(tx: ReadTx, scope: Scope) -> list[Own]:
    return tx.all(sql.of_agents, Own, scope=scope)


def lift(tx: Tx, scope: Scope, owner: AgentId = ALL) -> None:
    """Whoever reached the limit may use more."""
    tx.run(sql.lift, scope=scope, agent=owner)


def forget(tx: Tx, scope: Scope) -> None:
    tx.run(sql.forget, scope=scope)
