"""The journal of sessions: what was begun in a tree of them and what came of it, each under a path, with its price.

What was set aside for a call is given back when its end is on record. If nobody saw how it ended it is `unknown`, and
counts as if it had cost that much.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from moot.core import json
from moot.core.ids import AgentId, AttemptId, JobId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx, Value
from moot.ledger import usage
from moot.ledger.usage import DOLLAR, Scope, Spent
from moot.store import queries

sql = queries.beside(__file__)
State = Literal["started", "done", "failed", "unknown"]


@record
class Tree:
    """One execution of a delivery, in as many attempts as it takes. They may be attempts of several jobs: a run that is
    resumed has new ones for the same mail."""

    root: str
    job: JobId
    generation: int = 1
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])  # what it was begun with
    stop: str = ""  # why it is not gone on with


@record
class Account:
    """In whose name something is done, and where what it costs is added up."""

    attempt: AttemptId
    scope: Scope
    owner: AgentId


@record
class Opened:
    """About to be done."""

    path: str
    number: int  # of the try
    kind: str
    name: str
    agent: str
    trigger: str
    facts: str  # JSON
    reserve: int  # millionths of a dollar


@record
class Closed:
    """What came of it."""

    path: str
    number: int
    state: State
    result: str | None = None  # JSON
    stop: str = ""
    error: str | None = None
    cost: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0  # among the output
    is_estimated: bool = False


@record
class Entry:
    """What a repetition has to know of one try."""

    path: str
    number: int
    kind: str
    name: str
    state: State
    facts: Mapping[str, Json]
    result: str | None


def last_tree(tx: ReadTx, owner: AgentId) -> Tree | None:
    """The one that was begun last for an agent."""
    return tx.maybe(sql.last_tree, Tree, owner=owner)


def plant(tx: Tx, tree: Tree, owner: AgentId) -> None:
    """It begins, unless that was noted before."""
    facts = json.dumps(tree.facts)
    tx.run(sql.plant, root=tree.root, job=tree.job, generation=tree.generation, owner=owner, facts=facts, now=tx.micros)


def fell(tx: Tx, root: str, stop: str) -> None:
    """Going on with it would only lead to the same end: the next execution begins anew."""
    tx.run(sql.fell, root=root, stop=stop)


def entries(tx: ReadTx, root: str) -> list[Entry]:
    """All of a tree, the tries of each path in their order."""
    return tx.all(sql.entries, Entry, root=root)


def begin(tx: Tx, root: str, account: Account, opened: Sequence[Opened]) -> None:
    if not opened:
        return
    now, attempt, scope, owner = tx.micros, account.attempt, account.scope, account.owner
    rows: list[dict[str, Value]] = [
        {
            "root": root,
            "path": one.path,
            "number": one.number,
            "kind": one.kind,
            "name": one.name,
            "agent": one.agent,
            "trigger": one.trigger,
            "attempt": attempt,
            "scope": scope,
            "owner": owner,
            "facts": one.facts,
            "reserve": one.reserve,
            "now": now,
        }
        for one in opened
    ]
    tx.many(sql.begin, rows)


def end(tx: Tx, root: str, closed: Sequence[Closed]) -> None:
    if not closed:
        return
    now = tx.micros
    rows: list[dict[str, Value]] = [
        {
            "root": root,
            "path": one.path,
            "number": one.number,
            "state": one.state,
            "result": one.result,
            "stop": one.stop,
            "error": one.error,
            "cost": one.cost,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "cache_read_tokens": one.cache_read_tokens,
            "cache_write_tokens": one.cache_write_tokens,
            "reasoning_tokens": one.reasoning_tokens,
            "is_estimated": one.is_estimated,
            "now": now,
        }
        for one in closed
    ]
    tx.many(sql.end, rows)


@record
class _Lost:
    scope: Scope
    owner: AgentId
    reserve: int


def lose(tx: Tx, attempt: AttemptId) -> None:
    """The attempt is over: how what it had begun ended is not known, and what that may have cost is charged."""
    lost = tx.all(sql.lose, _Lost, attempt=attempt, now=tx.now)
    charged = sum(one.reserve for one in lost)
    if charged:
        usage.record(tx, lost[0].scope, lost[0].owner, Spent(dollars=charged / DOLLAR, is_estimated=True))


@record
class _Charge:
    path: str
    cost: int


def lost(tx: ReadTx, attempt: AttemptId) -> dict[str, int]:
    """The requests of an attempt whose end nobody saw, and what was charged for each, in millionths of a dollar."""
    return {one.path: one.cost for one in tx.all(sql.lost, _Charge, attempt=attempt)}


def reserved(tx: ReadTx, scope: Scope, owner: AgentId | None = None) -> int:
    """What is set aside for what is under way, of all or of one, in millionths of a dollar."""
    if owner is None:
        return tx.one(sql.reserved, int, scope=scope)
    return tx.one(sql.reserved_of, int, scope=scope, owner=owner)


def under_way(tx: ReadTx, scope: Scope) -> int:
    """How many models are being asked."""
    return tx.one(sql.under_way, int, scope=scope)


def results_of(tx: ReadTx, root: str, tool: str) -> Sequence[str]:
    """What the calls of a tool came to in a tree, each as JSON."""
    return tx.all(sql.results_of, str, root=root, name=tool)


def forget(tx: Tx, owner: AgentId) -> None:
    tx.run(sql.forget, owner=owner)
    tx.run(sql.forget_trees, owner=owner)
