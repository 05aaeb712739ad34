import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from bench import commits, sending
from bench.crew import Job, Order, crew, together
from bench.harness import Figure, Scale, interleaved, quantile
from bench.raw_rows import RawRows

TABLES = ("streams", "events", "messages", "mailbox")


async def test_raw_rows_are_the_rows_of_a_send(tmp_path: Path) -> None:
    channel = await sending.open_channel(tmp_path / "sent")
    await channel.send()
    beside = await sending.open_channel(tmp_path / "raw")
    raw = RawRows(tmp_path / "raw", beside)
    raw.send()
    raw.close()
    await channel.store.close()
    await beside.store.close()
    assert shape(tmp_path / "raw") == shape(tmp_path / "sent")


async def test_every_batch_is_seen(tmp_path: Path) -> None:
    channel = await sending.open_channel(tmp_path)
    with commits.watched() as spans:
        await asyncio.gather(*(channel.send() for _ in range(20)))
    await channel.store.close()
    assert 1 <= len(spans) <= 20
    assert all(start < end for start, end in spans)


def test_ratios_are_medians_of_rounds() -> None:
    ours, theirs = iter((2.0, 9.0, 6.0)), iter((1.0, 3.0, 3.0))
    rounds = interleaved(Scale(rounds=3), ours=lambda: next(ours), theirs=lambda: next(theirs))
    assert rounds.ratio("ours", "theirs") == 2.0
    assert rounds.middle("ours") == 6.0


def test_a_bar_is_met_from_its_side() -> None:
    assert Figure("", 8.0, 8, "at least").is_met
    assert not Figure("", 7.9, 8, "at least").is_met
    assert Figure("", 1.6, 1.6, "at most").is_met
    assert not Figure("", 1.7, 1.6, "at most").is_met


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile(list(range(100)), 0.99) == 99
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0


def test_workers_answer_orders_and_end() -> None:
    with crew(
        ("tests.bench.test_bench:doubling", {"by": 2}), ("tests.bench.test_bench:doubling", {"by": 3})
    ) as workers:
        assert together(workers, {"number": 7}) == [{"number": 14}, {"number": 21}]
    with pytest.raises(ValueError, match="closed file"):
        workers[0].order({"number": 7})


@contextmanager
def doubling(setup: Order) -> Generator[Job]:
    yield lambda order: {"number": order["number"] * setup["by"]}


def shape(folder: Path) -> list[tuple[str, list[tuple[object, ...]]]]:
    """Everything in the tables of a send but ids, times and what was never set."""
    connection = apsw.Connection(str(folder / "moot.db"))
    found = [
        (table, [tuple(map(plain, row)) for row in connection.execute(f"select * from {table}")]) for table in TABLES
    ]
    connection.close()
    return found


def plain(value: object) -> object:
    """Ids and times differ from store to store."""
    if isinstance(value, str) and value[:3] in ("ms_", "ag_", "in_"):
        return value[:3]
    if isinstance(value, str) and "ag_" in value:
        return value.split("ag_")[0]
    return "time" if isinstance(value, int) and value > 10**9 else value
