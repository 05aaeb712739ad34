"""A token is its secret: who bears it is who it was minted for, until something ends."""

from datetime import timedelta

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from moot.core.caller import Caller
from moot.core.ids import InstanceName, JobId, TokenId
from moot.core.tx import Query
from moot.registry import agents, attempts, hosts, tokens
from moot.registry.attempts import NewAttempt
from moot.registry.errors import NotAuthenticated
from moot.registry.hosts import NewHost
from moot.registry.tokens import Bearer, Grant
from moot.store.postgres import PostgresStore
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.plans import plan_on_sqlite
from tests.registry.house import House, build

DEFAULT = InstanceName("default")


async def mint(house: House, grant: Grant) -> tuple[str, TokenId]:
    text = tokens.new_text()
    return text, await house.write(lambda tx: tokens.mint(tx, text, grant))


async def identify(house: House, text: str) -> Caller:
    return await house.read(lambda tx: tokens.identify(tx, text))


async def is_refused(house: House, text: str) -> bool:
    with pytest.raises(NotAuthenticated) as refused:
        await identify(house, text)
    return refused.value.code == "NOT_AUTHENTICATED"


def test_every_secret_is_new_and_long() -> None:
    made = {tokens.new_text() for _ in range(1000)}
    assert len(made) == 1000
    assert {len(text) for text in made} == {len("moot_") + 43}


async def test_an_operator_is_the_person(store: Store) -> None:
    house = await build(store)
    text, id = await mint(house, Grant("operator", DEFAULT, "operator"))
    assert await identify(house, text) == Caller("human", "operator", DEFAULT, token=id)


async def test_a_member_is_its_agent_with_the_groups_it_was_granted(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    text, id = await mint(house, Grant("member", DEFAULT, "reviewer", ann.id, ("channel", "inbox")))
    caller = await identify(house, text)
    assert caller == Caller("ann", "reviewer", DEFAULT, ann.id, id, groups=("channel", "inbox"))


async def test_an_attempt_carries_its_fence(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    attempt = await house.start(ann, fence=7)
    text, id = await mint(house, Grant("attempt", DEFAULT, "member", ann.id, attempt=attempt))
    assert await identify(house, text) == Caller("ann", "member", DEFAULT, ann.id, id, attempt, 7)


async def test_garbage_is_nobodys_token(store: Store) -> None:
    house = await build(store)
    text, _ = await mint(house, Grant("operator", DEFAULT, "operator"))
    garbage = [
        "",
        "moot_",
        "garbage",
        "' or 1=1 --",
        "\0",
        "\ud800",
        "a" * 1_000_000,
        text[:-1],
        text + " ",
        text.upper(),
    ]
    assert [await is_refused(house, one) for one in garbage] == [True] * 10


async def test_the_stored_hash_is_not_a_token(store: Store) -> None:
    house = await build(store)
    text, _ = await mint(house, Grant("operator", DEFAULT, "operator"))
    assert await is_refused(house, tokens.hash_of(text))


async def test_a_revoked_token_is_worthless_and_the_others_are_not(store: Store) -> None:
    house = await build(store)
    text, id = await mint(house, Grant("operator", DEFAULT, "operator"))
    other, _ = await mint(house, Grant("operator", DEFAULT, "operator"))
    await house.write(lambda tx: tokens.revoke(tx, id))
    assert await is_refused(house, text)
    assert (await identify(house, other)).role == "operator"


async def test_an_agent_from_outside_stops_with_its_last_token_and_is_back_with_the_next(
    store: Store, clock: ManualClock
) -> None:
    house = await build(store)
    ann = await house.join("ann")
    grant = Grant("member", DEFAULT, "member", ann.id)
    first, second = [(await mint(house, grant))[1] for _ in range(2)]
    stopped = [await house.write(lambda tx, id=id: tokens.revoke(tx, id)) for id in (first, second, second)]
    assert stopped == [[], [ann.id], []]
    found = await house.read(lambda tx: agents.get(tx, ann.id))
    assert (found.stopped_at, found.presence(clock.now())) == (clock.now(), "offline")
    clock.advance(3600)
    await mint(house, grant)
    found = await house.read(lambda tx: agents.get(tx, ann.id))
    assert (found.stopped_at, found.presence(clock.now())) == (None, "online")


async def test_an_agent_that_moot_starts_does_not_stop_with_a_token(store: Store) -> None:
    house = await build(store)
    coder = await house.join("coder", "scripted")
    _, id = await mint(house, Grant("member", DEFAULT, "member", coder.id))
    assert await house.write(lambda tx: tokens.revoke(tx, id)) == []


@pytest.mark.parametrize("query", [tokens.sql.stop_agents, agents.sql.forsaken])
def test_those_who_depend_on_a_token_are_found_by_an_index(query: Query) -> None:
    plan = plan_on_sqlite(query)
    assert "SCAN" not in plan
    assert "agents_by_registrar" in plan or "agents_by_name" in plan


async def test_a_token_ends_at_its_time(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    text, _ = await mint(house, Grant("operator", DEFAULT, "operator", lasts=timedelta(minutes=1)))
    clock.advance(59.999999)
    assert (await identify(house, text)).role == "operator"
    clock.advance(0.000001)
    assert await is_refused(house, text)


async def test_a_token_dies_with_its_attempt(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    text, _ = await mint(house, Grant("attempt", DEFAULT, "member", ann.id, attempt=attempt))
    member, _ = await mint(house, Grant("member", DEFAULT, "member", ann.id))
    await house.write(lambda tx: attempts.end(tx, attempt, "succeeded"))
    assert await is_refused(house, text)
    assert (await identify(house, member)).name == "ann"


async def test_a_token_of_an_attempt_dies_with_the_lease_of_its_host(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    host = await house.write(lambda tx: hosts.register(tx, NewHost("here", "1", ("run",))))
    new = NewAttempt(ann.id, ann.stream, JobId("jb_1"), 1, 1, host)
    attempt = await house.write(lambda tx: attempts.start(tx, new))
    text, _ = await mint(house, Grant("attempt", DEFAULT, "member", ann.id, attempt=attempt))
    clock.advance(20)
    await house.write(lambda tx: hosts.renew(tx, host))
    clock.advance(20)
    assert (await identify(house, text)).attempt == attempt
    clock.advance(60)
    assert await is_refused(house, text)


async def test_a_token_of_an_agent_that_left_is_worthless(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    text, _ = await mint(house, Grant("member", DEFAULT, "member", ann.id))
    other, _ = await mint(house, Grant("member", DEFAULT, "member", bob.id))
    await house.write(lambda tx: agents.unregister(tx, ann.id))
    assert await is_refused(house, text)
    assert (await identify(house, other)).name == "bob"


async def test_all_tokens_of_an_agent_can_be_revoked_at_once(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    texts = [(await mint(house, Grant("member", DEFAULT, "member", ann.id)))[0] for _ in range(2)]
    other, _ = await mint(house, Grant("member", DEFAULT, "member", bob.id))
    await house.write(lambda tx: tokens.revoke_of_agent(tx, ann.id))
    assert [await is_refused(house, text) for text in texts] == [True, True]
    assert (await identify(house, other)).name == "bob"


async def test_tokens_that_die_with_a_process_are_listed_until_revoked(store: Store) -> None:
    house = await build(store)
    _, id = await mint(house, Grant("operator", DEFAULT, "operator", process="here#1"))
    await mint(house, Grant("operator", DEFAULT, "operator"))
    assert await house.read(tokens.bearers) == [Bearer(id, "here#1")]
    await house.write(lambda tx: tokens.revoke(tx, id))
    assert await house.read(tokens.bearers) == []


async def test_the_secret_is_nowhere_in_the_files_of_the_database(sqlite_store: SqliteStore) -> None:
    house = await build(sqlite_store)
    text, id = await mint(house, Grant("operator", DEFAULT, "operator"))
    files = [file for file in sqlite_store.folder.rglob("*") if file.is_file()]
    written = b"".join(file.read_bytes() for file in files)
    assert id.encode() in written
    assert text.removeprefix("moot_").encode() not in written


async def test_the_secret_is_nowhere_in_the_tables(pg_store: PostgresStore, pg_made_url: str, pg_server: str) -> None:
    house = await build(pg_store)
    text, id = await mint(house, Grant("operator", DEFAULT, "operator"))
    schema = pg_made_url.rpartition("schema=")[2]
    with psycopg.connect(pg_server) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = %s", [schema]).fetchall()
        rows = [
            str(row)
            for (table,) in tables
            for row in connection.execute(SQL("select * from {}").format(Identifier(schema, table))).fetchall()
        ]
    assert any(id in row for row in rows)
    assert not any(text.removeprefix("moot_") in row for row in rows)


async def test_who_gets_another_part_is_held_to_it_by_the_token_it_has(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    text, _ = await mint(house, Grant("member", DEFAULT, "member", ann.id))
    other, _ = await mint(house, Grant("member", DEFAULT, "member", bob.id))
    await house.write(lambda tx: tokens.regrant(tx, ann.id, "lead", ("inbox", "team")))
    found = await identify(house, text)
    assert (found.role, found.groups) == ("lead", ("inbox", "team"))
    assert ((await identify(house, other)).role, (await identify(house, other)).groups) == ("member", None)
