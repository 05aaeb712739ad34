"""Costs: what was used, ready to be added up. Usage says what each account has used in all, the journal how much of
that was used by which agent of a tree, and with which model."""

from datetime import datetime

from moot.core.ids import AgentId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.ledger.usage import Scope
from moot.store import queries

sql = queries.beside(__file__)


@record
class Share:
    """What one agent has used in one run, or outside of runs; by programs or in sessions."""

    scope: Scope
    owner: AgentId
    name: str
    instance: str
    run: str | None  # its name; None outside of runs
    started_at: datetime | None
    attempts: int
    input_tokens: int
    output_tokens: int
    turns: int
    cost: int  # millionths of a dollar, as everywhere in the ledger
    is_estimated: bool


@record
class Calls:
    """What one agent of a tree has asked one model, on somebody's account; a part of that account's share. Who has a
    session is there even if it asked none."""

    scope: Scope
    owner: AgentId
    agent: str
    model: str  # empty: the only one that the owner has, or a script
    calls: int
    answered: int
    unknown_calls: int  # that may have been billed, and stay charged
    unknown_cost: int
    reserved: int  # for calls that are under way
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: int
    is_estimated: bool


def shares(tx: ReadTx) -> list[Share]:
    return tx.all(sql.shares, Share)


def calls(tx: ReadTx) -> list[Calls]:
    return tx.all(sql.calls, Calls)
