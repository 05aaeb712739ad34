"""Makes and migrates a store in PostgreSQL: one transaction a step, alone, under an advisory lock."""

from typing import LiteralString, cast

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier

from moot.core.clock import Clock
from moot.core.tx import Query
from moot.store import migrate, queries
from moot.store.errors import StoreDamaged, StoreInUse, StoreNotFound, StoreTooNew
from moot.store.postgres import faults, tx
from moot.store.postgres.addresses import Database
from moot.store.postgres.pipeline import Connection
from moot.store.postgres.session import text

sql = queries.beside(__file__)


def prepare(connection: Connection, address: Database, *, create: bool, clock: Clock | None) -> None:
    """Bring the store to the version this moot knows; with `create`, make it when it is not there."""
    try:
        found = _version(connection, address)
        if found is None and not create:
            raise StoreNotFound(
                f"There is no store in {address.place}, schema {address.schema}.",
                "Begin with moot run FILE, or check the store's URL.",
            )
        for migration in migrate.migrations():
            if found is None or migration.version > found:
                _step(connection, address, migration, clock)
    except psycopg.Error as error:
        if (known := faults.named(error)) is not None:
            raise known from error
        raise


def _version(connection: Connection, address: Database) -> int | None:
    """None when there is no store."""
    if _value(connection, sql.has_store, schema=address.schema) is None:
        return None
    try:
        found = _value(connection, sql.version)
    except (errors.UndefinedColumn, errors.UndefinedTable) as error:
        raise StoreDamaged(
            f"The schema {address.schema} in {address.place}, holds tables that are not moot's.",
            "Choose another with ?schema= in the store's URL.",
        ) from error
    if found is not None and found > migrate.newest():
        raise StoreTooNew(
            f"{address.place}, was written by a newer moot (version {found}; this knows {migrate.newest()}).",
            "Upgrade moot.",
        )
    return found


def _step(connection: Connection, address: Database, migration: migrate.Migration, clock: Clock | None) -> None:
    """One migration, unless another process was quicker."""
    with connection.transaction():
        connection.execute(text(sql.be_alone), {"schema": address.schema})
        found = _version(connection, address)
        if found is not None and found >= migration.version:
            return
        if found is not None:
            _refuse_while_in_use(connection, clock)
        connection.execute(text(sql.take_time))
        if _value(connection, sql.has_schema, schema=address.schema) is None:
            connection.execute(SQL("create schema {}").format(Identifier(address.schema)))
        connection.execute(cast(LiteralString, migration.postgres))
        connection.execute(text(sql.set_version), {"version": migration.version})


def _refuse_while_in_use(connection: Connection, clock: Clock | None) -> None:
    now = clock.micros() if clock else _value(connection, tx.sql.clock)
    alive = connection.execute(text(sql.hosts_alive), {"now": now}).fetchall()
    if alive:
        raise StoreInUse(
            f"The store must be migrated, and {len(alive)} host(s) still use it.",
            "End them first (Ctrl-C in each moot serve). One that was killed counts for half a minute.",
        )


def _value(connection: Connection, query: Query, **values: str) -> int | None:
    row = connection.execute(text(query), values).fetchone()
    return None if row is None else int(row[0])
