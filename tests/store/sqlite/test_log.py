"""The log is moved into the file beside those who write, and starts over when nobody does."""

import resource
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from moot.store.sqlite.log import Log

Pages = tuple[int, int]  # of the log, and how many of these are in the file


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    return connection


@pytest.fixture
def writer(tmp_path: Path) -> Generator[apsw.Connection]:
    with closing(connect(tmp_path / "moot.db")) as connection:
        connection.execute("create table words (word text)")
        yield connection


@pytest.fixture
def log(tmp_path: Path, writer: apsw.Connection) -> Generator[Log]:
    log = Log(lambda: connect(tmp_path / "moot.db"))
    log.watch(writer)
    yield log
    log.close()


def write(connection: apsw.Connection, pages: int) -> None:
    connection.execute("insert into words values (?)", ("x" * 4096 * pages,))


def measured(connection: apsw.Connection) -> Pages:
    return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)


def test_it_is_long_after_a_thousand_pages(log: Log, writer: apsw.Connection) -> None:
    write(writer, 900)
    assert not log.is_long
    write(writer, 100)
    assert log.is_long


def test_it_is_moved_while_somebody_writes(log: Log, writer: apsw.Connection) -> None:
    write(writer, 1000)
    writer.execute("begin immediate")
    write(writer, 10)
    log.move()
    writer.execute("commit")
    pages, moved = measured(writer)
    assert 1000 < moved < pages
    assert log.is_long


def test_it_starts_over_with_the_next_commit(log: Log, writer: apsw.Connection) -> None:
    write(writer, 1000)
    log.move()
    write(writer, 10)
    log.start_over()
    assert not log.is_long
    write(writer, 1)
    assert measured(writer)[0] < 10


def test_while_somebody_reads_the_older_part_it_stays(log: Log, writer: apsw.Connection, tmp_path: Path) -> None:
    write(writer, 10)
    with closing(connect(tmp_path / "moot.db")) as reader:
        reader.execute("begin; select count(*) from words")
        write(writer, 1000)
        log.move()
        log.start_over()
        pages, moved = measured(writer)
    assert moved < 50 < pages
    write(writer, 1)
    assert log.is_long, "it is measured anew, and moved another time"


def test_that_it_cannot_be_moved_is_told_and_tried_again(
    tmp_path: Path, writer: apsw.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    places = [tmp_path / "gone" / "moot.db", tmp_path / "moot.db"]
    log = Log(lambda: connect(places.pop(0)))
    log.watch(writer)
    write(writer, 1000)
    log.move()
    assert "could not be moved" in caplog.text
    log.move()
    pages, moved = measured(writer)
    assert pages == moved
    log.close()


def length(folder: Path) -> int:
    return (folder / "moot.db-wal").stat().st_size


def words(path: Path) -> int:
    with closing(connect(path)) as connection:
        assert connection.pragma("integrity_check") == "ok"
        ((count,),) = connection.execute("select count(*) from words").fetchall()
    assert isinstance(count, int)
    return count


def test_it_gets_room_once_some_is_written(log: Log, writer: apsw.Connection, tmp_path: Path) -> None:
    write(writer, 10)
    assert not log.needs_room
    write(writer, 150)
    assert log.needs_room
    log.make_room()
    assert not log.needs_room
    long = length(tmp_path)
    assert long > 4_000_000
    for _ in range(8):
        write(writer, 100)
    assert length(tmp_path) == long
    assert words(tmp_path / "moot.db") == 10


def test_after_a_crash_nothing_is_found_in_its_room(log: Log, writer: apsw.Connection, tmp_path: Path) -> None:
    write(writer, 150)
    log.make_room()
    write(writer, 1)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("moot.db", "moot.db-wal"):  # without its index, which whoever comes next makes anew
        shutil.copy(tmp_path / name, crashed / name)
    assert words(crashed / "moot.db") == 2


def test_it_gets_none_while_somebody_writes(log: Log, writer: apsw.Connection, tmp_path: Path) -> None:
    write(writer, 150)
    short = length(tmp_path)
    writer.execute("begin immediate")
    log.make_room()
    writer.execute("commit")
    assert length(tmp_path) == short


def test_where_there_is_none_it_goes_without(log: Log, writer: apsw.Connection, tmp_path: Path) -> None:
    write(writer, 150)
    short = length(tmp_path)
    with files_of_at_most(short + 1_000_000):
        log.make_room()
    assert length(tmp_path) == short
    assert not log.needs_room
    write(writer, 100)
    log.move()
    assert words(tmp_path / "moot.db") == 2


def test_what_is_not_synced_needs_none(writer: apsw.Connection, tmp_path: Path) -> None:
    def open() -> apsw.Connection:
        connection = connect(tmp_path / "moot.db")
        connection.pragma("synchronous", "off")
        return connection

    log = Log(open)
    write(writer, 150)
    short = length(tmp_path)
    log.make_room()
    assert length(tmp_path) == short
    log.close()


@contextmanager
def files_of_at_most(size: int) -> Generator[None]:
    """As if the disk were full then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
