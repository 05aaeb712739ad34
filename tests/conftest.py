"""Fixtures for all tests: a clock that stands still, and stores on both real databases."""

import asyncio
import gc
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from anyio._backends._asyncio import _RawSocketMixin  # pyright: ignore[reportPrivateUsage]
from psycopg.sql import SQL, Identifier

from moot.process import confinement
from moot.store import postgres, sqlite
from moot.store.postgres import PostgresStore
from moot.store.sqlite import SqliteStore
from moot.store.store import Limits, Store
from moot.testing.clock import ManualClock
from tests import postgres_server
from tests.postgres_schemas import Schemas

LIMITS = Limits(too_slow_seconds=0.25)
_FOLDER = pytest.StashKey[Path]()
pytest.register_assert_rewrite("tests.views.shown")  # says what it has found instead


def pytest_configure(config: pytest.Config) -> None:
    # A shell has what it starts in the background ignore Ctrl-C, and so would every program that a test interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    workerinput: dict[str, Any] | None = getattr(config, "workerinput", None)
    config.stash[_FOLDER] = (
        postgres_server.new_folder() if workerinput is None else Path(workerinput["postgres_folder"])
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """In the session's own process, for every worker of pytest-xdist."""
    node.workerinput["postgres_folder"] = str(node.config.stash[_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        postgres_server.stop(config.stash[_FOLDER])


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look through all of it for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Async fixtures name it, so that tests which are not async can use them too. The loop is that of hosts."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session", autouse=True)
def steady_clients() -> Iterator[None]:
    """anyio's unix sockets, which only clients in tests use, answer a future that was cancelled in the same turn of
    the loop; the error that follows is theirs and would fail whichever test is running."""
    plain: Any = getattr(_RawSocketMixin, "_wait_until_readable")  # noqa: B009  # private, for which there is no type

    def steady(stream: Any, loop: asyncio.AbstractEventLoop) -> Any:
        future = plain(stream, loop)
        loop.add_reader(stream._raw_socket, lambda: future.done() or future.set_result(None))
        return future

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_RawSocketMixin, "_wait_until_readable", steady)
        yield


@pytest.fixture(scope="session")
def bytecode(pytestconfig: pytest.Config) -> Path:
    """Where all programs that tests start keep compiled modules: one folder, because to compile them takes seconds."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("bytecode")


@pytest.fixture
def clock() -> ManualClock:
    """The time of every store in this test; it moves by `clock.advance(seconds)` only."""
    return ManualClock()


@pytest.fixture(scope="session")
def pg_server(request: pytest.FixtureRequest) -> str:
    """The address of the session's PostgreSQL server, without a schema."""
    return postgres_server.url(request.config.stash[_FOLDER])


@pytest.fixture
def pg_url(pg_server: str) -> Iterator[str]:
    """The address of a store in a schema of its own, not made yet, dropped at the end."""
    schema = f"test_{secrets.token_hex(6)}"
    yield f"{pg_server}&schema={schema}"
    with psycopg.connect(pg_server, autocommit=True) as connection:
        connection.execute(SQL("drop schema if exists {} cascade").format(Identifier(schema)))


@pytest.fixture(scope="session")
def pg_schemas(pg_server: str) -> Iterator[Schemas]:
    with Schemas(pg_server) as schemas:
        yield schemas


@pytest.fixture
def pg_made_url(pg_schemas: Schemas) -> Iterator[str]:
    """The address of an empty store, made already."""
    with pg_schemas.lent() as url:
        yield url


@pytest.fixture
async def pg_store(anyio_backend: object, pg_made_url: str, clock: ManualClock) -> AsyncIterator[PostgresStore]:
    store = postgres.open_url(pg_made_url, create=True, clock=clock, limits=LIMITS)
    yield store
    await store.close()


@pytest.fixture
async def sqlite_store(anyio_backend: object, tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    store = sqlite.open_file(tmp_path / "store" / "moot.db", create=True, clock=clock, limits=LIMITS)
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def open_store(
    anyio_backend: object, request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Callable[[], Store]]:
    """Opens the test's store, each time as another process would; closes them all at the end."""
    is_sqlite: bool = request.param == "sqlite"
    url: str = "" if is_sqlite else request.getfixturevalue("pg_made_url")
    async with AsyncExitStack() as opened:

        def open_it() -> Store:
            store: Store = (
                sqlite.open_file(tmp_path / "store" / "moot.db", create=True, clock=clock, limits=LIMITS)
                if is_sqlite
                else postgres.open_url(url, create=True, clock=clock, limits=LIMITS)
            )
            opened.push_async_callback(store.close)
            return store

        yield open_it


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """A store on each of the two databases."""
    return open_store()


@pytest.fixture
def neighbour(open_store: Callable[[], Store], store: Store) -> Store:
    """The same store, as another process has it open."""
    return open_store()


@pytest.fixture
def without_landlock(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Where the program that finds out cannot even start."""
    monkeypatch.setattr(confinement, "_LAUNCHER", ("/none",))
    confinement.reach.cache_clear()
    yield
    confinement.reach.cache_clear()
