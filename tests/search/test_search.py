"""Searching: what is found, in which order, the same on both databases."""

import re
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.caller import SYSTEM
from moot.core.errors import InvalidInput
from moot.core.tx import Query, Tx, Value
from moot.search import search, wanted
from moot.search.search import snippet, sql
from moot.store import postgres
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.plans import plan_on_sqlite
from tests.registry.house import posted
from tests.search.desk import open_desk


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("apple", ["apple pie and cream", "An APPLE a day"]),
        ("apple pie", ["apple pie and cream"]),
        ('"pie and"', ["apple pie and cream"]),
        ('"and pie"', []),
        ("apple -day", ["apple pie and cream"]),
        ('apple -"pie and cream"', ["An APPLE a day"]),
        ("app*", ["apple pie and cream", "An APPLE a day"]),
        ("app", []),
        ("user_id", ["look at src/moot/users.py: user_id is wrong"]),
        ("users", ["look at src/moot/users.py: user_id is wrong"]),
        ("users.py", ["look at src/moot/users.py: user_id is wrong"]),
        ("src/moot", ["look at src/moot/users.py: user_id is wrong"]),
        ("#42", ["see #42, done🎉"]),
        ("done", ["see #42, done🎉"]),
        ("“done”", ["see #42, done🎉"]),
        ("höher", ["viel höher <b>fett</b>"]),
        ("fett", ["viel höher <b>fett</b>"]),
        ("hoher", []),
    ],
)
async def test_words_phrases_beginnings_and_exclusions(
    store: Store, clock: ManualClock, query: str, expected: list[str]
) -> None:
    desk = await open_desk(store)
    for body in (
        "An APPLE a day",
        "look at src/moot/users.py: user_id is wrong",
        "see #42, done🎉",
        "viel höher <b>fett</b>",
        "apple pie and cream",
    ):
        clock.advance(1)
        await desk.house.post(body)
    assert await desk.found(query) == expected


async def test_the_newest_come_first_and_no_more_than_wanted(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    for number in range(1, 6):
        clock.advance(1)
        await desk.house.post(f"word {number}")
    clock.advance(1)
    await desk.write("notes.md", "the word")
    assert await desk.found("word", limit=3) == ["notes.md 1", "word 5", "word 4"]
    assert await desk.found("word", "messages", limit=2) == ["word 5", "word 4"]
    assert await desk.found("word", "documents") == ["notes.md 1"]


async def test_what_was_said_after_a_search_is_found_by_the_next(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    await desk.house.post("first word")
    assert await desk.found("word") == ["first word"]
    clock.advance(1)
    await desk.house.post("second word")
    assert await desk.found("word") == ["second word", "first word"]
    assert await desk.found("word") == ["second word", "first word"]


async def test_a_document_is_found_by_what_it_says_now(store: Store) -> None:
    desk = await open_desk(store)
    await desk.write("notes.md", "alpha beta")
    await desk.write("plans/empty.md", "")
    assert await desk.found("alpha") == ["notes.md 1"]
    await desk.write("notes.md", "gamma")
    assert await desk.found("alpha") == []
    assert await desk.found("gamma") == ["notes.md 2"]
    await desk.write("notes.md", "alpha beta")
    assert await desk.found("alpha") == ["notes.md 3"]
    await desk.write("copy.md", "alpha beta")
    assert sorted(await desk.found("alpha")) == ["copy.md 1", "notes.md 3"]
    await desk.delete("notes.md")
    assert await desk.found("alpha") == ["copy.md 1"]


async def test_an_instance_does_not_find_what_another_has(store: Store) -> None:
    here, there = await open_desk(store), await open_desk(store, "other")
    await here.house.post("secret word")
    await here.write("notes.md", "secret word")
    assert len(await here.found("secret")) == 2
    assert await there.found("secret") == []


async def test_a_message_of_the_longest_kind_can_be_sent_and_its_beginning_found(store: Store) -> None:
    desk = await open_desk(store)
    body = "".join(f"w{number:x} " for number in range(200_000))[:1_000_000]
    await desk.house.post(body)
    await desk.house.post("𐌰𐌰-𐌱𐌱 " * 100_000)
    await desk.write("notes.md", body)
    assert len(await desk.found("w1f")) == 2
    assert await desk.found("w2ffff") == []


async def test_many_messages_are_taken_in_over_several_transactions(store: Store) -> None:
    desk = await open_desk(store)

    def fill(tx: Tx, start: int) -> None:
        for number in range(start, start + 100):
            posted(tx, desk.house.stream, f"word {number}")

    for start in range(0, 1200, 100):
        await desk.house.write(lambda tx, start=start: fill(tx, start))
    assert len(await desk.found("word", limit=2000)) == 1200
    assert await desk.found('"word 1199"') == ["word 1199"]
    assert await desk.found('"word 0"') == ["word 0"]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(query=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
async def test_odd_input_is_refused_in_words_or_finds_something_or_nothing(store: Store, query: str) -> None:
    desk = await open_desk(store)
    try:
        terms = wanted.parse(query)
    except InvalidInput:
        return
    found = await desk.house.read(lambda tx: search.find(tx, desk.place, terms, "everything", 10))
    assert found == []


@pytest.mark.parametrize(
    "query",
    ["a AND", "NOT a", "a:b", "body:a", "a NEAR b", "NEAR(a b, 2)", "^a", "{a}", "a' OR 1=1", "a'':*", "a & | !b",
     "(a", "a)", "a <-> b", "a\\'b", "a;b", "%s %(x)s", ":fts5", "it's", '"a" "b', "a\nb\tc", "a*b*", "*a", "--a--"],
)  # fmt: skip
async def test_what_databases_take_for_syntax_is_only_words(store: Store, query: str) -> None:
    desk = await open_desk(store)
    assert await desk.found(query) == []


def test_a_snippet_is_one_line_around_the_first_word() -> None:
    pattern = wanted.parse("needle").pattern
    text = "x" * 100 + " hay\n\thay Needle hay\n" + "y" * 300
    assert snippet(text, pattern).startswith("…" + "x" * 50)
    assert "hay hay Needle hay yyy" in snippet(text, pattern)
    assert snippet(text, pattern).endswith("y…")
    assert snippet("the needle", pattern) == "the needle"
    assert snippet("needles only", re.compile("nothing")) == "needles only"


def test_searching_uses_the_index_on_sqlite() -> None:
    said = plan_on_sqlite(sql.messages)
    assert re.search(r"SCAN w VIRTUAL TABLE INDEX \d+:\S*M", said)
    assert "SEARCH m USING PRIMARY KEY (stream=? AND seq=?)" in said
    assert "TEMP B-TREE" not in said
    written = plan_on_sqlite(sql.documents)
    assert re.search(r"SCAN w VIRTUAL TABLE INDEX \d+:\S*M", written)
    assert written.count("SCAN") == 1
    assert "SCAN m" not in plan_on_sqlite(sql.is_behind)


@pytest.fixture
async def new_pg_store(anyio_backend: object, pg_url: str) -> AsyncIterator[PostgresStore]:
    """In tables that nobody has used: what was deleted from them has a say in how they are read."""
    store = postgres.open_url(pg_url, create=True)
    yield store
    await store.close()


async def test_searching_uses_the_index_on_postgres(new_pg_store: PostgresStore) -> None:
    desk = await open_desk(new_pg_store)
    values: dict[str, Value] = {"stream": desk.house.stream, "instance": "default", "tsquery": "'7'", "limit": 5}
    fill = """insert into blobs (hash, content) select 'h' || n, 'some words ' || n from generate_series(1, 2000) n"""

    def plans(tx: Tx) -> list[str]:
        for number in range(500):
            posted(tx, desk.house.stream, f"some words {number}")
        tx.run(Query("fill", "", fill))
        tx.run(Query("analyze", "", "analyze messages, blobs"))
        explained = [Query("explain", "", f"explain {query.postgres}") for query in (sql.messages, sql.documents)]
        return ["\n".join(tx.all(query, str, **values)) for query in explained]

    said, written = await new_pg_store.write(plans, caller=SYSTEM)
    assert "Index Scan on messages_words" in said
    assert "Index Scan on blobs_words" in written
