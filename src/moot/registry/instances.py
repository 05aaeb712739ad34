"""Instances: the names under which runs follow one another, and the stream each one speaks in now."""

from datetime import datetime

from moot.core.ids import InstanceName, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import names
from moot.registry.errors import InstanceNotFound
from moot.store import queries, streams

sql = queries.beside(__file__)


@record
class Instance:
    name: InstanceName
    stream: StreamId
    created_at: datetime


def ensure(tx: Tx, name: str) -> Instance:
    """The instance, made with an empty stream if it is new."""
    found = find(tx, name)
    if found is not None:
        return found
    names.check_instance(name)
    stream = StreamId(tx.new_id("in"))
    if tx.run(sql.create, name=name, stream=stream, now=tx.now):
        streams.create(tx, stream, name)
    return get(tx, name)


def find(tx: ReadTx, name: str) -> Instance | None:
    return tx.maybe(sql.find, Instance, name=name)


def get(tx: ReadTx, name: str) -> Instance:
    found = find(tx, name)
    if found is None:
        known = ", ".join(sorted(one.name for one in all_of(tx)))
        raise InstanceNotFound(f"There is no instance {name!r}.", f"There are: {known}." if known else "See moot list.")
    return found


def all_of(tx: ReadTx) -> list[Instance]:
    return tx.all(sql.all_of, Instance)


def forget(tx: Tx, name: InstanceName) -> None:
    """Gone for good, with its agents, their tokens and attempts, and its runs."""
    for statement in (sql.forget_tokens, sql.forget_attempts, sql.forget_agents, sql.forget_runs, sql.forget):
        tx.run(statement, name=name)
