"""What is PostgreSQL's alone: conflicts, lost connections, outcomes, versions, addresses."""

import asyncio
import contextlib
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from psycopg import conninfo

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.tx import Query, Tx
from moot.store import migrate, postgres, queries
from moot.store.errors import (
    StoreBusy,
    StoreDamaged,
    StoreInUse,
    StoreNotFound,
    StorePlaceRefused,
    StoreTooNew,
    StoreUnavailable,
    StoreUrlInvalid,
)
from moot.store.postgres import PostgresStore, addresses, faults
from moot.store.postgres.transactions import Patience
from moot.store.store import Limits
from tests import postgres_server
from tests.interleave import interleave
from tests.store.relay import Relay

DEADLINE = 20.0
SHORT = Patience(seconds=0.3, tries=5)


def statement(text: str) -> Query:
    return Query("test", "", queries.for_psycopg(text))


ADD = statement("insert into instances (name, stream, created_at) values (:name, 's', 0)")
NAMES = statement("select name from instances order by name")
PROCESS = statement("select pg_backend_pid()")


async def names(store: PostgresStore) -> list[str]:
    return await store.read(lambda tx: tx.all(NAMES, str))


@pytest.fixture
def admin(pg_server: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(pg_server, autocommit=True) as connection:
        yield connection


def end_process(admin: psycopg.Connection, process: int) -> None:
    """Returns when it has ended."""
    assert admin.execute("select pg_terminate_backend(%s, 10000)", (process,)).fetchone() == (True,)


class Runs:
    """A change that counts how often it ran, and does something special the first time."""

    def __init__(self, first: Callable[[Tx], object], *, is_first_before: bool = False) -> None:
        self.count = 0
        self._first = first
        self._is_first_before = is_first_before

    def __call__(self, tx: Tx) -> int:
        self.count += 1
        if self.count == 1 and self._is_first_before:
            self._first(tx)
        tx.run(ADD, name="row")
        if self.count == 1 and not self._is_first_before:
            self._first(tx)
        return self.count


async def test_a_serialization_failure_runs_the_function_again(pg_store: PostgresStore) -> None:
    fail = statement("do $$ begin raise exception 'clash' using errcode = '40001'; end $$")
    change = Runs(lambda tx: tx.run(fail))
    assert await pg_store.write(change, caller=SYSTEM) == 2
    assert await names(pg_store) == ["row"]


async def test_a_conflict_that_never_ends_is_reported_and_nothing_is_written(pg_url: str) -> None:
    store = postgres.open_url(pg_url, create=True, patience=SHORT)
    fail = statement("do $$ begin raise exception 'clash' using errcode = '40001'; end $$")

    def change(tx: Tx) -> None:
        tx.run(ADD, name="row")
        tx.run(fail)

    with pytest.raises(StoreBusy, match="nothing was written"):
        await store.write(change, caller=SYSTEM)
    assert await names(store) == []
    await store.close()


async def test_two_that_wait_for_each_other_both_succeed(pg_store: PostgresStore) -> None:
    """A real deadlock: PostgreSQL ends one, and that one runs again."""
    for name in ("x", "y"):
        await pg_store.write(lambda tx, name=name: tx.run(ADD, name=name), caller=SYSTEM)
    both_hold_one = threading.Barrier(2, timeout=DEADLINE)
    runs: list[str] = []

    def in_order(one: str, other: str) -> Callable[[Tx], None]:
        def change(tx: Tx) -> None:
            runs.append(one)
            tx.lock("instances", one)
            if runs.count(one) == 1:
                both_hold_one.wait()
            tx.lock("instances", other)

        return change

    async with asyncio.timeout(DEADLINE):
        await asyncio.gather(
            pg_store.write(in_order("x", "y"), caller=SYSTEM), pg_store.write(in_order("y", "x"), caller=SYSTEM)
        )
    assert len(runs) == 3


async def test_a_connection_lost_before_commit_runs_the_function_again(
    pg_store: PostgresStore, admin: psycopg.Connection
) -> None:
    change = Runs(lambda tx: end_process(admin, tx.one(PROCESS, int)), is_first_before=True)
    assert await pg_store.write(change, caller=SYSTEM) == 2
    assert await names(pg_store) == ["row"]


async def test_a_connection_lost_when_commit_is_sent_runs_the_function_again(
    pg_store: PostgresStore, admin: psycopg.Connection
) -> None:
    """The last thing the function does is to lose it, so COMMIT is what fails; the server says: aborted."""
    change = Runs(lambda tx: end_process(admin, tx.one(PROCESS, int)))
    assert await pg_store.write(change, caller=SYSTEM) == 2
    assert await names(pg_store) == ["row"]


async def test_a_commit_whose_answer_was_lost_is_not_done_twice(pg_url: str) -> None:
    with Relay(pg_url) as relay:
        store = postgres.open_url(relay.url, create=True)
        relay.cut = "answer"
        change = Runs(lambda tx: None)
        assert await store.write(change, caller=SYSTEM) == 1
        assert relay.cut == "nothing"
        assert await names(store) == ["row"]
        await store.close()


async def test_a_commit_lost_on_its_way_is_ended_there_and_done_again(pg_url: str) -> None:
    """The server still holds the first transaction open, with its locks."""
    with Relay(pg_url) as relay:
        store = postgres.open_url(relay.url, create=True)
        relay.cut = "commit"
        change = Runs(lambda tx: None)
        started = monotonic()
        assert await store.write(change, caller=SYSTEM) == 2
        assert monotonic() - started < 15.0  # and does not wait until the server gives up an idle client
        assert await names(store) == ["row"]
        await store.close()


async def test_an_outcome_nobody_can_tell_is_called_unknown(pg_url: str) -> None:
    with Relay(pg_url) as relay:
        store = postgres.open_url(relay.url, create=True, patience=SHORT)
        relay.cut = "answer"

        def change(tx: Tx) -> None:
            tx.run(ADD, name="row")
            relay.is_dead = True

        with pytest.raises(StoreUnavailable, match="whether this was written is not known"):
            await store.write(change, caller=SYSTEM)
        relay.is_dead = False
        assert await names(store) == ["row"]
        await store.close()


async def test_a_server_that_is_away_is_named_and_found_again_when_it_is_back(pg_url: str) -> None:
    with Relay(pg_url) as relay:
        store = postgres.open_url(relay.url, create=True, patience=SHORT)

        def change(tx: Tx) -> None:
            relay.is_dead = True
            process = tx.one(PROCESS, int)
            with psycopg.connect(pg_url.partition("&schema")[0], autocommit=True) as other:
                end_process(other, process)
            tx.run(ADD, name="lost")

        with pytest.raises(StoreUnavailable, match="othing was written"):
            await store.write(change, caller=SYSTEM)
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1"):
            await names(store)
        relay.is_dead = False
        assert await names(store) == []
        await store.write(lambda tx: tx.run(ADD, name="kept"), caller=SYSTEM)
        assert await names(store) == ["kept"]
        await store.close()


async def test_dead_connections_at_rest_cost_one_try(pg_url: str, admin: psycopg.Connection) -> None:
    """All were cut, as by a restart of the server; two tries are enough, however many there were."""
    store = postgres.open_url(f"{pg_url}&application_name=cut_{os.getpid()}", create=True, patience=Patience(tries=2))
    all_have_one = threading.Barrier(6, timeout=DEADLINE)

    def meet(tx: Tx) -> None:
        tx.one(PROCESS, int)
        all_have_one.wait()

    await asyncio.gather(*(store.write(meet, caller=SYSTEM) for _ in range(6)))
    ended = admin.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = %s",
        (f"cut_{os.getpid()}",),
    ).fetchall()
    assert len(ended) == 6
    await store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)
    assert await names(store) == ["row"]
    await store.close()


@pytest.mark.slow
async def test_a_crashed_server_is_not_believed_about_numbers_it_gives_out_again() -> None:
    """After a crash another transaction has our number; its `committed` is not ours. On a server of its own."""
    folder = postgres_server.new_folder()
    try:
        server = postgres_server.url(folder)
        store = postgres.open_url(server, create=True)
        number = statement("select cast(cast(pg_current_xact_id() as text) as bigint)")

        def change(tx: Tx) -> None:
            ours = tx.one(number, int)
            crash(server)
            while take_number(server) < ours:
                pass

        with pytest.raises(StoreUnavailable, match="not known"):
            await store.write(change, caller=SYSTEM)
        await store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)
        assert await names(store) == ["row"]
        await store.close()
    finally:
        postgres_server.stop(folder)


def crash(server: str) -> None:
    """Kill one of its processes: PostgreSQL then ends all others, throws away all shared memory and starts anew."""
    until = monotonic() + DEADLINE
    victim, witness = psycopg.connect(server), psycopg.connect(server, autocommit=True)
    os.kill(victim.info.backend_pid, signal.SIGKILL)
    with pytest.raises(psycopg.OperationalError):  # before that it would serve us as if nothing had happened
        ask_until(witness, until)
    victim.close()
    witness.close()
    while monotonic() < until:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(server) as back:
            back.execute("create table if not exists public.numbers (n bigint)")
            return
    pytest.fail("the server did not come back")


def ask_until(witness: "psycopg.Connection[tuple[object, ...]]", until: float) -> None:
    while monotonic() < until:
        witness.execute("select 1")


def take_number(server: str) -> int:
    with psycopg.connect(server) as connection:
        row = connection.execute(
            "insert into public.numbers values (1) returning pg_current_xact_id()::text"
        ).fetchone()
        assert row is not None
        return int(row[0])


async def test_a_function_that_goes_on_after_a_failed_statement_is_refused(pg_store: PostgresStore) -> None:
    """PostgreSQL answers its COMMIT with ROLLBACK, without an error."""

    def change(tx: Tx) -> str:
        tx.run(ADD, name="row")
        with contextlib.suppress(psycopg.Error):
            tx.run(ADD, name="row")
        return "done"

    with pytest.raises(StoreUnavailable, match="nothing was written"):
        await pg_store.write(change, caller=SYSTEM)
    assert await names(pg_store) == []


async def test_a_refusal_after_something_that_failed_unheard_keeps_the_connection(pg_store: PostgresStore) -> None:
    async def process() -> int:
        return await pg_store.write(lambda tx: tx.one(PROCESS, int), caller=SYSTEM)

    def refuse(tx: Tx) -> None:
        for _ in range(2):
            tx.put(ADD, name="row")
        raise StoreBusy("no")

    before = await process()
    with pytest.raises(StoreBusy, match="no"):
        await pg_store.write(refuse, caller=SYSTEM)
    assert await process() == before
    assert await names(pg_store) == []


async def test_neither_side_waits_for_the_other_to_read_first(pg_store: PostgresStore) -> None:
    """Far more in both directions than fits into the buffers between them."""
    echo = statement("select cast(:long as text) || 'b'")

    def work(tx: Tx) -> int:
        for _ in range(40):
            tx.put(echo, long="a" * 500_000)
        return len(tx.one(echo, str, long="a"))

    async with asyncio.timeout(DEADLINE):
        assert await pg_store.write(work, caller=SYSTEM) == 2


async def test_who_waits_too_long_for_a_thread_is_told_and_nothing_is_written(pg_url: str) -> None:
    store = postgres.open_url(pg_url, create=True, limits=Limits(queued_seconds=0.2))
    go_on, running = threading.Event(), threading.Semaphore(0)

    def block(tx: Tx) -> None:
        running.release()
        assert go_on.wait(DEADLINE)

    busy = [asyncio.ensure_future(store.write(block, caller=SYSTEM)) for _ in range(8)]
    for _ in busy:
        assert await asyncio.to_thread(running.acquire, timeout=DEADLINE)
    with pytest.raises(StoreBusy, match="nothing was written"):
        await store.write(lambda tx: tx.run(ADD, name="late"), caller=SYSTEM)
    go_on.set()
    await asyncio.gather(*busy)
    await store.close()
    assert await read_afresh(pg_url) == []


async def read_afresh(url: str) -> list[str]:
    store = postgres.open_url(url, create=False)
    found = await names(store)
    await store.close()
    return found


async def test_now_is_the_database_s_clock_after_the_lock(pg_url: str, admin: psycopg.Connection) -> None:
    store = postgres.open_url(pg_url, create=True)
    await store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)
    time = statement("select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)")
    waits = "select count(*) from pg_stat_activity where %s = any(pg_blocking_pids(pid))"
    is_held = threading.Event()

    def hold(tx: Tx) -> datetime:
        tx.lock("instances", "row")
        is_held.set()
        process, until = tx.one(PROCESS, int), monotonic() + DEADLINE
        while admin.execute(waits, (process,)).fetchone() != (1,) and monotonic() < until:
            pass
        return tx.one(time, datetime)

    def wait(tx: Tx) -> tuple[datetime, datetime]:
        early = tx.now
        assert is_held.wait(DEADLINE)
        tx.lock("instances", "row")
        return early, tx.now

    first = asyncio.ensure_future(store.write(hold, caller=SYSTEM))
    second = asyncio.ensure_future(store.write(wait, caller=SYSTEM))
    async with asyncio.timeout(2 * DEADLINE):
        held, (early, late) = await first, await second
    assert early < held < late
    await store.close()


async def test_commits_are_durable_even_where_the_server_says_otherwise(pg_url: str) -> None:
    store = postgres.open_url(f"{pg_url}&options=-c%20synchronous_commit%3Doff", create=True)
    setting = statement("select current_setting('synchronous_commit')")
    assert await store.write(lambda tx: tx.one(setting, str), caller=SYSTEM) == "on"
    await store.close()


async def test_limits_hold_for_every_session_and_the_url_may_change_them(pg_url: str) -> None:
    store = postgres.open_url(f"{pg_url}&options=-c%20statement_timeout%3D7s", create=True)
    setting = statement("select current_setting(:name)")

    async def value(name: str) -> str:
        return await store.read(lambda tx: tx.one(setting, str, name=name))

    assert await value("statement_timeout") == "7s"
    assert await value("idle_in_transaction_session_timeout") == "30s"
    assert await value("client_connection_check_interval") == "5s"
    await store.close()


async def test_reading_never_makes_a_store(pg_url: str, admin: psycopg.Connection) -> None:
    schema = pg_url.partition("&schema=")[2]
    with pytest.raises(StoreNotFound, match=schema):
        postgres.open_url(pg_url, create=False)
    assert admin.execute("select to_regnamespace(%s)", (schema,)).fetchone() == (None,)


async def test_many_that_open_a_new_store_at_once_all_get_it(pg_url: str) -> None:
    async with asyncio.timeout(DEADLINE):
        stores = await asyncio.gather(*(asyncio.to_thread(postgres.open_url, pg_url, create=True) for _ in range(4)))
    for turn, store in enumerate(stores):
        await store.write(lambda tx, turn=turn: tx.run(ADD, name=str(turn)), caller=SYSTEM)
    assert await names(stores[0]) == ["0", "1", "2", "3"]
    for store in stores:
        await store.close()


def in_schema(admin: psycopg.Connection, url: str, text: str) -> None:
    schema = url.partition("&schema=")[2]
    admin.execute(f"set search_path to {schema}".encode())
    admin.execute(text.encode())


async def test_a_store_migrated_by_another_moot_refuses_writes(
    pg_store: PostgresStore, pg_url: str, admin: psycopg.Connection
) -> None:
    in_schema(admin, pg_url, "update meta set value = value + 1 where key = 'version'")
    with pytest.raises(StoreUnavailable, match=r"was migrated to version \d+ .* Start it again"):
        await pg_store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)
    assert await names(pg_store) == []
    with pytest.raises(StoreTooNew):
        postgres.open_url(pg_url, create=True)


async def test_nobody_writes_while_a_migration_is_under_way(
    pg_store: PostgresStore, pg_url: str, admin: psycopg.Connection
) -> None:
    schema = pg_url.partition("&schema=")[2]
    with admin.transaction():
        admin.execute("select pg_advisory_xact_lock(hashtextextended('moot ' || %s, 0))", (schema,))
        with pytest.raises(StoreUnavailable, match="being migrated"):
            await pg_store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)
    assert await names(pg_store) == []
    await pg_store.write(lambda tx: tx.run(ADD, name="row"), caller=SYSTEM)


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From here on, moot is one version newer: there is one more migration."""

    def upgrade() -> None:
        for migration in migrate.migrations():
            (tmp_path / f"{migration.name}.sql").write_text(migration.sql, encoding="utf-8")
        step = "create table novelty (id text primary key, n integer not null) strict;"
        (tmp_path / f"{migrate.newest() + 1:04}_novelty.sql").write_text(step, encoding="utf-8")
        monkeypatch.setattr(migrate, "_FOLDER", tmp_path)

    return upgrade


async def test_opening_migrates_and_keeps_what_is_there(pg_url: str, next_version: Callable[[], None]) -> None:
    store = postgres.open_url(pg_url, create=True)
    await store.write(lambda tx: tx.run(ADD, name="old"), caller=SYSTEM)
    await store.close()
    next_version()
    store = postgres.open_url(pg_url, create=False)
    count = statement("select count(*) from novelty")
    assert await store.write(lambda tx: tx.one(count, int), caller=SYSTEM) == 0
    assert await names(store) == ["old"]
    await store.close()


async def test_a_migration_waits_for_hosts_to_stop(
    pg_url: str, admin: psycopg.Connection, next_version: Callable[[], None]
) -> None:
    await postgres.open_url(pg_url, create=True).close()
    in_schema(
        admin,
        pg_url,
        "insert into hosts (id, machine, process, roles, started_at, lease_until)"
        " select 'h', 'm', 'p', '[]', 0, cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) + 60000000",
    )
    next_version()
    with pytest.raises(StoreInUse, match="1 host"):
        postgres.open_url(pg_url, create=True)
    in_schema(admin, pg_url, "update hosts set lease_until = 1")
    await postgres.open_url(pg_url, create=True).close()


async def test_tables_of_somebody_else_are_left_alone(pg_url: str, admin: psycopg.Connection) -> None:
    schema = pg_url.partition("&schema=")[2]
    admin.execute(f"create schema {schema} create table meta (name text)".encode())
    with pytest.raises(StoreDamaged, match="not moot's"):
        postgres.open_url(pg_url, create=True)


@pytest.mark.parametrize(
    "schema", ["", "1st", "Upper", "a-b", 'a"; drop schema public; --', "pg_moot", "ä", "x" * 59, "a b", "a%22"]
)
def test_a_schema_that_is_no_plain_name_is_refused(schema: str) -> None:
    with pytest.raises(StoreUrlInvalid, match="cannot be the schema"):
        addresses.parse(f"postgresql://h/d?schema={schema}")


def test_an_address_is_taken_apart() -> None:
    address = addresses.parse("postgresql://u:p%2Bq@db.example:6543/work?schema=team_a&connect_timeout=3")
    parameters = conninfo.conninfo_to_dict(address.connection)
    assert (address.schema, address.channel) == ("team_a", "moot_team_a")
    assert address.place == "PostgreSQL at db.example:6543, database work"
    assert (parameters["user"], parameters["password"], parameters["connect_timeout"]) == ("u", "p+q", "3")
    assert "-c search_path=team_a" in str(parameters["options"])
    assert parameters["tcp_user_timeout"] == "20000"
    assert "p+q" not in repr(address)
    assert addresses.parse("postgres://h/d").schema == "moot"


@pytest.mark.parametrize(
    "url", ["mysql://u:hunter2@h/d", "postgresql://u:hunter2@h:port/d", "postgresql://u:hunter2@h/d?nonsense=1"]
)
def test_an_address_that_makes_no_sense_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreUrlInvalid) as caught:
        postgres.open_url(url, create=False)
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"


def test_a_port_where_nobody_listens_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1, .*refused") as caught:
        postgres.open_url("postgresql://u:hunter2@127.0.0.1:1/d", create=True)
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"


def test_a_database_that_is_not_there_is_named(pg_server: str) -> None:
    with pytest.raises(StoreNotFound, match=r'database "nowhere" does not exist.*createdb'):
        postgres.open_url(pg_server.replace("/postgres?", "/nowhere?"), create=True)


def test_a_user_the_server_does_not_know_is_refused(pg_server: str) -> None:
    with pytest.raises(StorePlaceRefused, match='role "nobody" does not exist'):
        postgres.open_url(pg_server.replace("//postgres:", "//nobody:"), create=True)


def test_a_user_who_may_not_make_the_schema_is_told(pg_server: str, admin: psycopg.Connection) -> None:
    admin.execute("drop role if exists plain_user")
    admin.execute("create role plain_user login")
    try:
        with pytest.raises(StorePlaceRefused, match="permission denied"):
            postgres.open_url(pg_server.replace("//postgres:", "//plain_user:") + "&schema=theirs", create=True)
    finally:
        admin.execute("drop role plain_user")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ('failed: FATAL:  password authentication failed for user "u"', StorePlaceRefused),
        ("failed: fe_sendauth: no password supplied", StorePlaceRefused),
        ("failed: FATAL:  sorry, too many clients already", StoreUnavailable),
        ("failed: FATAL:  the database system is starting up", StoreUnavailable),
    ],
)
def test_a_failed_connection_is_put_into_words(words: str, kind: type[MootError]) -> None:
    error = psycopg.OperationalError(f'connection failed: connection to server at "10.0.0.1", port 5432 {words}')
    named = faults.cannot_connect(error, "PostgreSQL at 10.0.0.1:5432, database d")
    assert type(named) is kind
    reason = re.sub(r"^failed: |FATAL:  ", "", words)
    assert reason in str(named)
    assert named.remedy


async def test_interleave_shows_a_lost_update_without_a_lock_and_none_with_it(pg_store: PostgresStore) -> None:
    count = statement("select created_at from instances where name = :name")
    move = statement("update instances set created_at = :count where name = :name")

    def increment(tx: Tx, name: str, *, is_locked: bool) -> int:
        if is_locked:
            tx.lock("instances", name)
        found = tx.one(count, int, name=name) + 1
        tx.run(move, name=name, count=found)
        return found

    for name in ("careless", "careful"):
        await pg_store.write(lambda tx, name=name: tx.run(ADD, name=name), caller=SYSTEM)

    async def meet(name: str, *, is_locked: bool) -> tuple[int, int]:
        met = await interleave(
            pg_store,
            lambda tx: increment(tx, name, is_locked=is_locked),
            lambda tx: increment(tx, name, is_locked=is_locked),
        )
        assert met.second_waited
        return met.first, met.second

    assert await meet("careless", is_locked=False) == (1, 1)
    assert await meet("careful", is_locked=True) == (1, 2)


async def test_interleave_lets_the_second_finish_first_when_it_can(pg_store: PostgresStore) -> None:
    met = await interleave(
        pg_store,
        lambda tx: tx.run(ADD, name="first"),
        lambda tx: tx.run(ADD, name="second") and tx.all(NAMES, str),
    )
    assert not met.second_waited
    assert met.second == ["second"]


async def test_interleave_hands_on_what_a_function_raises(pg_store: PostgresStore) -> None:
    def fail(tx: Tx) -> None:
        raise StoreBusy("no")

    with pytest.raises(StoreBusy, match="no"):
        await interleave(pg_store, fail, lambda tx: None)
    with pytest.raises(StoreBusy, match="no"):
        await interleave(pg_store, lambda tx: None, fail)
