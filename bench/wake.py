"""How long from a send in one process to the row in hand in another that waits for it, the commit included?

The measure is PostgreSQL: insert and NOTIFY in one round trip, LISTEN and a select on the other side, raw psycopg both.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import postgres_server
from bench.crew import Order, Worker, crew
from bench.harness import Figure, Scale, interleaved, millis, quantile
from bench.place import disk

POLL = 0.25


def measure(scale: Scale, folder: Path) -> list[Figure]:
    count = 20 if scale.is_quick else 60
    seen: dict[str, list[float]] = {"moot": [], "postgres": [], "polling": []}
    with ExitStack() as opened:
        uri = opened.enter_context(postgres_server.running(folder, 10))

        def pair(sender: str, reader: str, setup: Order) -> list[Worker]:
            return opened.enter_context(crew((f"bench.wakers:{sender}", setup), (f"bench.wakers:{reader}", setup)))

        here, beside = {"folder": str(folder / "moot")}, {"folder": str(folder / "polled"), "poll": POLL}
        rounds = interleaved(
            scale,
            moot=_side(pair("moot_sender", "moot_reader", here), count, 0.004, seen["moot"]),
            postgres=_side(pair("postgres_sender", "postgres_reader", {"uri": uri}), count, 0.004, seen["postgres"]),
            polling=_side(pair("moot_sender", "moot_reader", beside), 4, 0.1, seen["polling"]),
            disk=disk(folder, scale.seconds / 4),
        )
    return [
        Figure(
            "send to wake across processes, p50, times PostgreSQL LISTEN/NOTIFY",
            rounds.ratio("moot", "postgres"),
            1.2,
            "at most",
            (
                f"moot {_spelled(seen['moot'])}; PostgreSQL {_spelled(seen['postgres'])}",
                f"polling every {POLL * 1000:.0f} ms: p50 {millis(median(seen['polling']))}",
                f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds of {count}",
            ),
        )
    ]


def _spelled(ages: list[float]) -> str:
    return f"p50 {millis(median(ages))}, p99 {millis(quantile(ages, 0.99))}"


def _side(workers: list[Worker], count: int, pause: float, seen: list[float]) -> Callable[[], float]:
    sender, reader = workers

    def p50() -> float:
        reader.order({"count": count})
        sender.order({"count": count, "pause": pause})
        sender.result()
        ages = reader.result()["ages"]
        seen.extend(ages)
        return median(ages)

    return p50
