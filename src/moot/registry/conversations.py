"""Conversations that an agent's program keeps for itself, and that its next attempt may go on with."""

from moot.core.ids import AgentId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)


@record
class Kept:
    """Money is counted in millionths of a dollar."""

    handle: str
    input_tokens: int
    output_tokens: int
    turns: int
    cost: int
    is_estimated: bool


def keep(tx: Tx, agent: AgentId, backend: str, kept: Kept) -> None:
    tx.run(
        sql.keep,
        agent=agent,
        backend=backend,
        handle=kept.handle,
        input_tokens=kept.input_tokens,
        output_tokens=kept.output_tokens,
        turns=kept.turns,
        cost=kept.cost,
        is_estimated=kept.is_estimated,
        now=tx.now,
    )


def of_agent(tx: ReadTx, agent: AgentId, backend: str) -> Kept | None:
    return tx.maybe(sql.of_agent, Kept, agent=agent, backend=backend)


def forget(tx: Tx, agent: AgentId) -> None:
    tx.run(sql.forget, agent=agent)
