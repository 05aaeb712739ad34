"""What happens at once on PostgreSQL is played one after the other, and comes to the same."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from tests import fake_models
from tests.cli.terminal import SECONDS, Terminal
from tests.fake_models import Asked, call, say
from tests.stories.test_replay_models import assert_alike, lines, record

PAIR = """
name: pair
context: {document_owner: none}
budget: {turns: 1}
agents:
  ann: {model: openai/ann, BASE}
  ben: {script: [{on: go, say: fine}]}
kickoff: "@ann begin"
"""
# Who begins an attempt has seen by then what was used.
GATE = """
create function {schema}.gate() returns trigger language plpgsql as $$
begin
  if (select name from {schema}.agents where id = new.agent) = 'ben' then
    perform pg_advisory_xact_lock(hashtext({name}));
  end if;
  return new;
end $$;
create trigger gate before insert on {schema}.attempts for each row execute function {schema}.gate();
create function {schema}.bell() returns trigger language plpgsql as $$
begin
  if new.turns = 1 then perform pg_notify({name}, ''); end if;
  return new;
end $$;
create trigger bell before update on {schema}.usage for each row execute function {schema}.bell();
"""
WAITS = "select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = hashtext(%s)::oid"


@pytest.fixture
def terminal(terminal: Terminal, pg_made_url: str) -> Terminal:
    return replace(terminal, url=pg_made_url)


class Gate:
    """Holds up the attempt of ben between its look at the budget and its commit."""

    def __init__(self, connection: psycopg.AsyncConnection, name: str) -> None:
        self._connection = connection
        self._name = name

    async def until_waited_for(self) -> None:
        while (await (await self._connection.execute(WAITS, (self._name,))).fetchone()) == (0,):
            pass

    async def open_when_used(self) -> None:
        """Once a turn is on record."""
        async for _ in self._connection.notifies(timeout=SECONDS, stop_after=1):
            pass
        await self._connection.execute("select pg_advisory_unlock(hashtext(%s))", (self._name,))


@asynccontextmanager
async def gate(pg_server: str, url: str) -> AsyncGenerator[Gate]:
    (schema,) = parse_qs(urlsplit(url).query)["schema"]
    names = {"schema": Identifier(schema), "name": schema}
    async with await psycopg.AsyncConnection.connect(pg_server, autocommit=True) as connection:
        await connection.execute(SQL(GATE).format(**names))
        await connection.execute("select pg_advisory_lock(hashtext(%s))", (schema,))
        await connection.execute(SQL("listen {}").format(Identifier(schema)))
        try:
            yield Gate(connection, schema)
        finally:
            await connection.execute(SQL("drop function {schema}.gate, {schema}.bell cascade").format(**names))


async def test_an_attempt_begins_as_it_did_though_a_limit_was_reached_in_that_moment(
    terminal: Terminal, pg_server: str
) -> None:
    assert terminal.url is not None
    async with gate(pg_server, terminal.url) as ben, asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:

        async def scenario(asked: Asked) -> fake_models.Answer:
            if asked.has_called("document_append"):
                return say("done")
            await asyncio.to_thread(terminal.ok, "send", "--instance", "first", "@ben go")
            await ben.until_waited_for()
            group.create_task(ben.open_when_used())
            return call("document_append", content="ann\n")

        file, tape = await record(terminal, PAIR, scenario, code=3)
    first = next(one for one in lines(tape, "begin") if one["agent"] == "ben")
    assert first["leave"] == {"by_run": "", "by_agent": ""}
    assert_alike(terminal, file, tape, code=3)
