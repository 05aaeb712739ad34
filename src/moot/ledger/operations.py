"""Operations: one row for each thing done on somebody's behalf, with the answer when it carried a key."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Literal

from moot.core import json
from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.ids import AgentId, AttemptId, OperationId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
Kind = Literal["tool", "model", "step", "shell"]
State = Literal["started", "done", "failed", "unknown", "repeated"]


class KeyReused(MootError):
    """One key, two different calls."""

    code = "KEY_REUSED"


class OutcomeUnknown(MootError):
    """It was begun, and nobody saw how it ended; repeating it blindly could do it twice."""

    code = "OUTCOME_UNKNOWN"


@record
class Key:
    """Names a call within a scope, so that its repetition is recognised."""

    scope: str
    key: str


@record
class Deed:
    """What is about to be done."""

    kind: Kind
    name: str
    arguments: str  # a hash: arguments may be long or secret
    key: Key | None = None


@record
class Operation:
    id: OperationId
    kind: Kind
    name: str
    actor: str
    arguments: str
    state: State
    result: str | None
    started_at: datetime


def hash_of(arguments: Mapping[str, Json]) -> str:
    """The same for equal arguments, in whatever order."""
    return hashlib.sha256(json.sorted_bytes(arguments)).hexdigest()[:32]


def begin(tx: Tx, deed: Deed, caller: Caller, *, is_outside: bool = False) -> OperationId | None:
    """Note that it is done in this transaction, or that it is going to be done outside; None if its key was used
    before. Whoever comes with the same key at the same moment waits here until that is decided."""
    return _add(tx, deed, caller, "started" if deed.key or is_outside else "done")


def _add(tx: Tx, deed: Deed, caller: Caller, state: State) -> OperationId | None:
    id = OperationId(tx.new_id("op"))
    is_new = tx.run(
        sql.add,
        id=id,
        kind=deed.kind,
        name=deed.name,
        actor=caller.name,
        agent=caller.agent,
        attempt=caller.attempt,
        scope=deed.key.scope if deed.key else None,
        key=deed.key.key if deed.key else None,
        arguments=deed.arguments,
        state=state,
        now=tx.now,
    )
    return id if is_new else None


def end(tx: Tx, id: OperationId, answer: str) -> None:
    """Keep the answer; needed only for what is done outside, or can be recognised again."""
    tx.run(sql.end, id=id, result=answer, now=tx.now)


def fail(tx: Tx, id: OperationId, error: str) -> None:
    """It failed, and is known to have: under its key it may be tried again."""
    tx.run(sql.fail, id=id, error=error, now=tx.now)


def lose(tx: Tx, attempt: AttemptId) -> int:
    """The attempt is over: how what it had begun outside ended is unknown."""
    return tx.run(sql.lose, attempt=attempt, now=tx.now)


def repeat(tx: Tx, deed: Deed, caller: Caller) -> str:
    """What the same call was answered before. The attempt that makes it again has made it, too, and that is noted:
    whoever asks what an attempt did must not take it for idle because an earlier one did the same."""
    found = answer(tx, deed)
    if caller.attempt is not None:
        _add(tx, replace(deed, key=None), caller, "repeated")
    return found


def answer(tx: ReadTx, deed: Deed) -> str:
    """What the same call was answered before; KeyReused if the key was another call's."""
    assert deed.key is not None
    found = tx.one(sql.by_key, Operation, scope=deed.key.scope, key=deed.key.key)
    if (found.name, found.arguments) != (deed.name, deed.arguments):
        raise KeyReused(
            f"The key {deed.key.key[:80]!r} was used for another call ({found.name}).",
            "Use a new key for each call.",
        )
    if found.result is None:
        raise OutcomeUnknown(
            f"{found.name} was begun before under this key, and how it ended is not known.",
            "Look at what it would have changed, then use a new key.",
        )
    return found.result


def is_on_record(tx: ReadTx, key: Key) -> bool:
    """Whether a call with this key was begun."""
    return tx.maybe(sql.by_key, Operation, scope=key.scope, key=key.key) is not None


def of_attempt(tx: ReadTx, attempt: AttemptId) -> list[Operation]:
    """What an attempt has done, in order: the next one is told."""
    return tx.all(sql.of_attempt, Operation, attempt=attempt)


def has_called(tx: ReadTx, attempt: AttemptId, name: str) -> bool:
    """Whether an attempt has made such a call, be it answered from the record of an earlier attempt."""
    return tx.maybe(sql.has_called, int, attempt=attempt, name=name) is not None


def forget(tx: Tx, agent: AgentId) -> None:
    tx.run(sql.forget, agent=agent)
