"""How SQLite would carry out a statement, on the schema that the migrations make."""

import re

import apsw

from moot.core.tx import Query
from moot.store import migrate


def plan_on_sqlite(query: Query) -> str:
    connection = apsw.Connection(":memory:")
    for migration in migrate.migrations():
        connection.execute(migration.sql)
    values = dict.fromkeys(re.findall(r"(?<!:):([a-z_][a-z0-9_]*)", query.sqlite), 1)
    return "\n".join(str(row[3]) for row in connection.execute(f"explain query plan {query.sqlite}", values))
