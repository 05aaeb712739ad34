"""Named statements: how they are loaded, and that code and files agree about them."""

import ast
import re
from pathlib import Path

import pytest

import moot
from moot.store import queries
from moot.store.queries import Statements

SOURCE = Path(moot.__file__).parent
MODULES = sorted(file for file in SOURCE.rglob("*.py") if "queries.beside(__file__)" in file.read_text("utf-8"))
FILES = sorted(file for file in SOURCE.rglob("*.sql") if file.parent.name != "migrations")


def load(folder: Path, portable: str, postgres: str | None = None) -> Statements:
    (folder / "things.sql").write_text(portable)
    if postgres is not None:
        (folder / "things.postgres.sql").write_text(postgres)
    return queries.beside(str(folder / "things.py"))


def test_a_statement_reaches_to_the_next_heading(tmp_path: Path) -> None:
    sql = load(tmp_path, "-- first: One.\nselect 1\n\n-- second: Two\n-- lines of words.\nselect 2,\n  3;\n")
    assert (sql.first.name, sql.first.sqlite) == ("first", "select 1")
    assert sql.second.sqlite == "-- lines of words.\nselect 2,\n  3"


def test_a_name_that_is_missing_is_named(tmp_path: Path) -> None:
    sql = load(tmp_path, "-- first: One.\nselect 1\n")
    with pytest.raises(AttributeError, match=r"things\.sql has no statement named secnod"):
        _ = sql.secnod


def test_a_name_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"twice: \['one'\]"):
        load(tmp_path, "-- one: A.\nselect 1\n\n-- two: B.\nselect 2\n\n-- one: C.\nselect 3\n")


def test_postgres_may_say_it_otherwise(tmp_path: Path) -> None:
    sql = load(tmp_path, "-- a: A.\nselect :x\n\n-- b: B.\nselect :y\n", "-- b: B.\nselect :y + 1\n")
    assert (sql.a.sqlite, sql.a.postgres) == ("select :x", "select %(x)s")
    assert (sql.b.sqlite, sql.b.postgres) == ("select :y", "select %(y)s + 1")


def test_an_override_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"do not exist: \['b'\]"):
        load(tmp_path, "-- a: A.\nselect 1\n", "-- b: B.\nselect 2\n")


@pytest.mark.parametrize(
    ("portable", "psycopg"),
    [
        ("select :name", "select %(name)s"),
        ("where a=:a1 and b=:b_2", "where a=%(a1)s and b=%(b_2)s"),
        ("select :a::text", "select %(a)s::text"),
        ("select a::text", "select a::text"),
        ("select 10 % 3", "select 10 %% 3"),
        ("where a like '100%'", "where a like '100%%'"),
        ("select 'at :noon', :x", "select 'at :noon', %(x)s"),
        ("select 'it''s :noon', :x", "select 'it''s :noon', %(x)s"),
        ("-- the row's :lock\nselect :x", "-- the row's :lock\nselect %(x)s"),
        ("select '12:30'", "select '12:30'"),
    ],
)
def test_parameters_for_psycopg(portable: str, psycopg: str) -> None:
    assert queries.for_psycopg(portable) == psycopg


def used_in(module: Path) -> set[str]:
    """The names after `sql.` in a module."""
    tree = ast.parse(module.read_text("utf-8"))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sql"
    }


def named_in(file: Path) -> set[str]:
    return set(queries.parse(file.read_text("utf-8")))


def test_there_are_statements_to_check() -> None:
    assert {module.stem for module in MODULES} >= {"feed", "streams", "group_commit", "files"}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCE)))
def test_every_statement_is_named_and_used(module: Path) -> None:
    assert used_in(module) == named_in(module.with_suffix(".sql"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_every_file_of_statements_belongs_to_a_module(file: Path) -> None:
    assert file.with_name(file.name.split(".")[0] + ".py") in MODULES
    statements = queries.parse(file.read_text("utf-8"))
    assert statements
    assert all(statements.values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_statement_is_one_statement(file: Path) -> None:
    for name, text in queries.parse(file.read_text("utf-8")).items():
        assert ";" not in re.sub(r"--[^\n]*|'[^']*'", "", text), name
