"""Both databases end up with the same tables, columns and indexes, and understand every statement."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import psycopg
import pytest
from psycopg.pq import ExecStatus

import moot
from moot.core.tx import Query
from moot.store import migrate, queries
from moot.store.postgres import PostgresStore
from moot.store.sqlite import SqliteStore
from moot.store.sqlite.statements import statements as sqlite_statements

SOURCES = Path(moot.__file__).parent
# Searching is the one thing that each database does in its own way.
SQLITE_ONLY = {"message_words", "message_marks", "document_words", "document_marks"}
POSTGRES_ONLY = {"messages_words", "blobs_words"}
TYPES = {"bigint": "integer", "bytea": "blob", "double precision": "real"}


@dataclass(frozen=True, order=True)
class Column:
    """A column as far as both databases can agree."""

    table: str
    name: str
    type: str
    is_required: bool


@dataclass(frozen=True, order=True)
class Index:
    """An index; those that belong to a constraint have no name of ours."""

    table: str
    name: str
    columns: tuple[str, ...]
    is_unique: bool
    condition: str


def sqlite_columns(connection: apsw.Connection) -> set[Column]:
    rows = connection.execute(
        """select m.name, c.name, lower(c.type), c."notnull" or c.pk
           from pragma_table_list m, pragma_table_info(m.name) c
           where m.type not in ('shadow', 'view') and m.name not like 'sqlite_%'"""
    )
    return {Column(str(t), str(n), str(kind), bool(required)) for t, n, kind, required in rows}


def postgres_columns(connection: psycopg.Connection) -> set[Column]:
    rows = connection.execute(
        """select table_name, column_name, data_type, is_nullable = 'NO'
           from information_schema.columns join information_schema.tables using (table_schema, table_name)
           where table_schema = current_schema() and table_type = 'BASE TABLE'"""
    )
    return {Column(t, n, TYPES.get(str(kind), str(kind)), required) for t, n, kind, required in rows}


def sqlite_indexes(connection: apsw.Connection) -> set[Index]:
    rows = connection.execute(
        """select m.name, i.name, i.origin, i."unique",
             (select group_concat(name) from (select name from pragma_index_info(i.name) order by seqno)),
             (select sql from sqlite_master where name = i.name)
           from pragma_table_list m, pragma_index_list(m.name) i where m.type <> 'shadow'"""
    ).fetchall()
    return {
        Index(
            str(table),
            str(name) if origin == "c" else "",
            tuple(str(columns).split(",")),
            bool(unique),
            plain(str(text).partition(" where ")[2] if text else ""),
        )
        for table, name, origin, unique, columns, text in rows
    }


def postgres_indexes(connection: psycopg.Connection) -> set[Index]:
    rows = connection.execute(
        """select t.relname, i.relname, k.oid is not null, x.indisunique,
             (select coalesce(string_agg(a.attname, ',' order by place), '')
              from unnest(x.indkey) with ordinality as u (n, place)
              join pg_attribute a on a.attrelid = t.oid and a.attnum = u.n),
             coalesce(pg_get_expr(x.indpred, x.indrelid), '')
           from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
           left join pg_constraint k on k.conindid = i.oid
           where t.relnamespace = to_regnamespace(current_schema())"""
    )
    return {
        Index(table, "" if is_constraint else name, tuple(columns.split(",")), unique, plain(condition))
        for table, name, is_constraint, unique, columns, condition in rows
    }


def plain(condition: str) -> str:
    """PostgreSQL's spelling of a condition and ours, without what makes no difference."""
    text = re.sub(r"= any \(array\[(.*?)\]\)", r"in (\1)", condition.lower().replace("::text", ""))
    return " ".join(re.sub(r"[()]", " ", text).split())


def test_tables_and_columns_are_the_same(sqlite_shape: apsw.Connection, pg_shape: psycopg.Connection) -> None:
    found = sqlite_columns(sqlite_shape)
    assert Column("streams", "seq", "integer", True) in found
    assert Column("agents", "left_at", "integer", False) in found
    assert {column.table for column in found} >= SQLITE_ONLY
    assert {column for column in found if column.table not in SQLITE_ONLY} == postgres_columns(pg_shape)


def test_indexes_are_the_same(sqlite_shape: apsw.Connection, pg_shape: psycopg.Connection) -> None:
    found = sqlite_indexes(sqlite_shape)
    assert Index("events", "", ("stream", "seq"), True, "") in found
    assert Index("streams", "streams_with_news", ("id",), False, "seq > reacted") in found
    theirs = postgres_indexes(pg_shape)
    assert {index.name for index in theirs} >= POSTGRES_ONLY
    assert {index for index in found if index.table not in SQLITE_ONLY} == {
        index for index in theirs if index.name not in POSTGRES_ONLY
    }


def test_a_condition_is_the_same_in_both_spellings() -> None:
    ours = "state in ('queued', 'unknown') and left_at is null"
    theirs = "((state = ANY (ARRAY['queued'::text, 'unknown'::text])) AND (left_at IS NULL))"
    assert plain(ours) == plain(theirs) == "state in 'queued', 'unknown' and left_at is null"


def test_text_is_compared_alike_everywhere(pg_shape: psycopg.Connection) -> None:
    rows = pg_shape.execute(
        """select table_name, column_name from information_schema.columns
           where table_schema = current_schema() and data_type = 'text' and collation_name is distinct from 'C'"""
    ).fetchall()
    assert rows == []


def test_the_words_of_a_migration_are_translated_where_they_are_types() -> None:
    step = migrate.Migration(
        7,
        "0007_x",
        "create table t (\n  a text primary key,\n  b blob,\n  n integer not null,\n"
        "  r real\n) strict, without rowid;\n"
        "insert into t (a, n) select cast(n as text), n from u;",
    )
    assert step.postgres == (
        'create table t (\n  a text collate "C" primary key,\n  b bytea,\n  n bigint not null,\n'
        "  r double precision\n) ;\n"
        "insert into t (a, n) select cast(n as text), n from u;"
    )


def test_a_migration_may_have_a_file_of_its_own_for_postgresql() -> None:
    search = next(step for step in migrate.migrations() if step.name == "0008_search")
    assert "fts5" in search.sql
    assert "fts5" not in search.postgres
    assert "using gin" in search.postgres
    assert [step.version for step in migrate.migrations()] == sorted({step.version for step in migrate.migrations()})
    assert migrate.newest() == migrate.migrations()[-1].version


def test_every_statement_is_understood_by_sqlite(sqlite_shape: apsw.Connection) -> None:
    found = statements("postgres")
    assert len(found) > 50
    for query in found:
        values = dict.fromkeys(re.findall(r":([a-z_][a-z0-9_]*)", query.sqlite))
        sqlite_shape.execute("explain " + query.sqlite, values).fetchall()


def test_parameters_come_in_the_order_in_which_sqlite_counts_them(sqlite_shape: apsw.Connection) -> None:
    for query in (*statements("postgres"), Query("odd", "select 'at :noon', :y, :x, :y -- the :end", "")):
        names = queries.parameters(query.sqlite)
        explained = sqlite_shape.execute("explain " + query.sqlite, [None] * len(names))
        assert explained.bindings_names == names, query


def test_a_shortened_statement_means_the_same(sqlite_shape: apsw.Connection) -> None:
    for query in statements("postgres"):
        names = queries.parameters(query.sqlite)
        short = sqlite_statements[query.sqlite].text
        plain, shortened = (
            sqlite_shape.execute("explain " + text, [None] * len(names)).fetchall() for text in (query.sqlite, short)
        )
        assert [_without_names(row) for row in shortened] == [_without_names(row) for row in plain], query


def _without_names(row: tuple[object, ...]) -> tuple[object, ...]:
    """A parameter is called by its name or its number, depending on how it was written."""
    return (*row[:5], None, *row[6:]) if row[1] == "Variable" else row


def test_every_statement_is_understood_by_postgresql(pg_shape: psycopg.Connection) -> None:
    refused: dict[str, str] = {}
    found = statements("sqlite")
    assert len(found) > 50
    for query in found:
        result = pg_shape.pgconn.prepare(b"", numbered(query).encode())
        if result.status != ExecStatus.COMMAND_OK:
            refused[query.name] = result.error_message.decode()
    assert refused == {}


def statements(without: str) -> list[Query]:
    """All statements of moot but those of the other database's own package."""
    files = [file for file in SOURCES.rglob("*.sql") if file.parent.name != "migrations"]
    ours = [file for file in files if file.parent.name != without and ".postgres" not in file.name]
    found: list[Query] = []
    for file in sorted(ours):
        loaded = queries.beside(str(file.with_suffix(".py")))
        found += [getattr(loaded, name) for name in queries.parse(file.read_text(encoding="utf-8"))]
    return found


def numbered(query: Query) -> str:
    """As psycopg sends it: `$1` for every mention of the first name."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", query.postgres)))
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", query.postgres)
    return text.replace("%%", "%").replace("some_table", "streams").replace("some_key", "id")


@pytest.fixture
def sqlite_shape(sqlite_store: SqliteStore) -> Iterator[apsw.Connection]:
    with contextlib.closing(apsw.Connection(str(sqlite_store.folder / "moot.db"))) as connection:
        yield connection


@pytest.fixture
def pg_shape(pg_store: PostgresStore, pg_made_url: str) -> Iterator[psycopg.Connection]:
    server, _, schema = pg_made_url.partition("&schema=")
    with psycopg.connect(server, autocommit=True, options=f"-c search_path={schema}") as connection:
        yield connection
