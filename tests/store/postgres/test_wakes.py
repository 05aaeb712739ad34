"""Wake-ups through PostgreSQL: one NOTIFY for many commits, and a listener that comes back."""

import os
from collections.abc import Callable, Iterator
from time import monotonic

import psycopg
import pytest

from moot.core.caller import SYSTEM
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.store import postgres, streams
from moot.store.postgres import PostgresStore, addresses
from moot.store.postgres import wakes as postgres_wakes
from moot.store.postgres.wakes import Listener, Notifier
from tests.store.relay import Relay

DEADLINE = 20.0
RUN = StreamId("wf_a")


class Ear:
    """Hears every NOTIFY of a store's channel."""

    def __init__(self, connection: psycopg.Connection, channel: str) -> None:
        self._connection = connection
        self._channel = channel
        connection.execute(f"listen {channel}".encode())

    def say(self, payload: str) -> None:
        """Returns when it was heard."""
        self._connection.execute("select pg_notify(%s, %s)", (self._channel, payload))
        assert [notice.payload for notice in self._connection.notifies(timeout=DEADLINE, stop_after=1)] == [payload]

    def heard(self) -> list[str]:
        """Who has notified so far. What was committed before is heard before our own notice."""
        self._connection.execute("select pg_notify(%s, 'end')", (self._channel,))
        heard: list[str] = []
        for notice in self._connection.notifies(timeout=DEADLINE):
            if notice.payload == "end":
                return heard
            heard.append(notice.payload)
        pytest.fail("our own notice never came")


@pytest.fixture
def ear(pg_url: str) -> Iterator[Ear]:
    server, _, _ = pg_url.partition("&schema=")
    with psycopg.connect(server, autocommit=True) as connection:
        yield Ear(connection, addresses.parse(pg_url).channel)


def test_commits_during_one_notice_share_the_next(pg_url: str, ear: Ear) -> None:
    with Relay(pg_url) as relay:
        notifier = Notifier(addresses.parse(relay.url), "me")
        notifier.notify()
        wait_until(lambda: bool(ear.heard()))
        relay.flows.clear()
        notifier.notify()
        wait_until(lambda: relay.held == 1)
        for _ in range(50):
            notifier.notify()
        relay.flows.set()
        notifier.close()
        assert ear.heard() == ["me", "me"]


def wait_until(holds: Callable[[], bool]) -> None:
    until = monotonic() + DEADLINE
    while not holds():
        assert monotonic() < until, "it did not come true in time"


def test_a_notice_that_found_no_server_is_sent_when_it_is_back(pg_url: str, ear: Ear) -> None:
    with Relay(pg_url) as relay:
        relay.is_dead = True
        notifier = Notifier(addresses.parse(relay.url), "me")
        notifier.notify()
        wait_until(lambda: relay.refused > 0)
        relay.is_dead = False
        wait_until(lambda: ear.heard() == ["me"])
        notifier.close()
    assert ear.heard() == []


async def test_only_news_are_told_to_others(pg_url: str, ear: Ear) -> None:
    store = postgres.open_url(pg_url, create=True)
    await store.write(lambda tx: streams.create(tx, RUN, "default"), caller=SYSTEM)
    await store.write(lambda tx: None, caller=SYSTEM)
    await store.close()
    assert ear.heard() == []
    store = postgres.open_url(pg_url, create=True)
    await store.write(lambda tx: tx.emit(Event(RUN, "said", "ann")), caller=SYSTEM)
    await store.close()
    assert len(ear.heard()) == 1


async def test_a_rolled_back_function_tells_nobody(pg_url: str, ear: Ear) -> None:
    store = postgres.open_url(pg_url, create=True)

    def fail(tx: Tx) -> None:
        tx.wake()
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(fail, caller=SYSTEM)
    await store.close()
    assert ear.heard() == []


async def ring_of(store: PostgresStore, signal: Signal) -> float:
    """Seconds from a commit in `store` to the ring."""
    signal.clear()
    started = monotonic()
    await store.write(lambda tx: tx.wake(), caller=SYSTEM)
    assert await signal.wait(DEADLINE)
    return monotonic() - started


async def test_a_listener_that_lost_its_connection_listens_again(pg_url: str, pg_server: str) -> None:
    name = f"ear_{os.getpid()}"
    store = postgres.open_url(f"{pg_url}&application_name={name}", create=True)
    other = postgres.open_url(pg_url, create=True)
    with store.listen() as signal, psycopg.connect(pg_server, autocommit=True) as admin:
        wait_until_listening(admin, name)
        signal.clear()
        ended = admin.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity"
            " where application_name = %s and query ilike 'listen%%'",
            (name,),
        ).fetchall()
        assert ended == [(True,)]
        assert await signal.wait(DEADLINE)  # something may have been missed
        wait_until_listening(admin, name)
        assert sum([await ring_of(other, signal) for _ in range(4)]) < 4.0
    await store.close()
    await other.close()


def wait_until_listening(admin: psycopg.Connection, name: str) -> None:
    listening = (
        "select count(*) from pg_stat_activity"
        " where application_name = %s and query ilike 'listen%%' and state = 'idle'"
    )
    wait_until(lambda: admin.execute(listening, (name,)).fetchone() == (1,))


async def test_silence_is_broken_by_a_backstop(pg_store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint can be lost without a trace; nobody then waits for ever."""
    monkeypatch.setattr(postgres_wakes, "_BACKSTOP_SECONDS", 0.01)
    with pg_store.listen() as signal:
        for _ in range(5):
            signal.clear()
            assert await signal.wait(DEADLINE)


async def test_nobody_listens_for_nobody(pg_url: str, pg_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection of a listener ends after the last one left, and the next one has one again."""
    monkeypatch.setattr(postgres_wakes, "_BACKSTOP_SECONDS", 0.01)
    name = f"lone_{os.getpid()}"
    store = postgres.open_url(f"{pg_url}&application_name={name}", create=True)
    other = postgres.open_url(pg_url, create=True)
    listening = "select count(*) from pg_stat_activity where application_name = %s and query ilike 'listen%%'"
    with psycopg.connect(pg_server, autocommit=True) as admin:
        with store.listen():
            wait_until_listening(admin, name)
        wait_until(lambda: admin.execute(listening, (name,)).fetchone() == (0,))
        with store.listen() as signal:
            wait_until_listening(admin, name)
            assert await ring_of(other, signal) < DEADLINE
    await store.close()
    await other.close()


def test_our_own_notices_do_not_ring_twice(pg_url: str, ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """In process the ring comes directly; hearing of it from the server too would make every reader look twice."""
    monkeypatch.setattr(postgres_wakes, "_BACKSTOP_SECONDS", 2 * DEADLINE)
    rings: list[float] = []
    listener = Listener(addresses.parse(pg_url), "me", lambda: True, lambda: rings.append(monotonic()))
    listener.start()
    wait_until(lambda: len(rings) == 1)
    for turn in range(20):
        ear.say("me")
        ear.say("another")
        wait_until(lambda turn=turn: len(rings) == turn + 2)
    listener.close()
    assert len(rings) == 21
