"""The store for several machines: a schema in a PostgreSQL database."""

from moot.store.postgres.store import PostgresStore as PostgresStore
from moot.store.postgres.store import open_url as open_url
