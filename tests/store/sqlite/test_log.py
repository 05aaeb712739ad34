"""The log is moved into the file beside those who write, and starts over when nobody does."""

from collections.abc import Generator
from contextlib import closing
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
