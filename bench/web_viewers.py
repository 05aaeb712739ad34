"""What do a hundred viewers of the live page cost, at a hundred events a second?

The page's host is a process of its own, as is whoever sends and the agent that waits for its mail: how long a message
takes between those two is measured with the viewers and without. Every viewer hears every event, and looks at the
overview once a second.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.crew import Worker, crew
from bench.harness import Figure, Scale, interleaved, millis, quantile

VIEWERS, PACE = 100, 0.01
_LATEST = 0.2  # seconds after its commit an event is on the wire


def measure(scale: Scale, folder: Path) -> list[Figure]:
    count = 200 if scale.is_quick else 500
    seen: dict[str, list[float]] = {"watched": [], "quiet": [], "page": [], "cpu": [], "idle": []}
    here = {"folder": str(folder / "moot")}
    with ExitStack() as opened:
        (host,) = opened.enter_context(crew(("bench.viewers:page", here)))
        host.order({"link": True})
        link = host.result()["link"]
        sender, reader, audience = opened.enter_context(
            crew(
                ("bench.wakers:moot_sender", here),
                ("bench.wakers:moot_reader", here),
                ("bench.viewers:audience", {"link": link}),
            )
        )
        rounds = interleaved(
            scale,
            quiet=_quiet((host, sender, reader), count, seen),
            watched=_watched((host, sender, reader, audience), count, seen),
        )
    cpu = median(seen["cpu"])
    return [
        Figure(
            f"CPU of the page's host, of one core, {VIEWERS} viewers at {1 / PACE:.0f} events/s",
            cpu,
            1.0,
            "at most",
            (f"without viewers {median(seen['idle']):.2f}; {rounds.count} rounds of {count} events",),
        ),
        Figure(
            "delivery of a message to an agent, p50, times the same without viewers",
            rounds.ratio("watched", "quiet"),
            1.2,
            "at most",
            (f"{millis(median(seen['watched']))} against {millis(median(seen['quiet']))}",),
        ),
        Figure(
            f"age of an event on the wire, p99, times {_LATEST * 1000:.0f} ms",
            quantile(seen["page"], 0.99) / _LATEST,
            1.0,
            "at most",
            (f"p50 {millis(median(seen['page']))}, p99 {millis(quantile(seen['page'], 0.99))}",),
        ),
    ]


def _quiet(workers: tuple[Worker, Worker, Worker], count: int, seen: dict[str, list[float]]) -> Callable[[], float]:
    host, sender, reader = workers

    def p50() -> float:
        before = _cpu(host)
        reader.order({"count": count})
        sender.order({"count": count, "pause": PACE})
        sender.result()
        ages = reader.result()["ages"]
        seen["idle"].append((_cpu(host) - before) / (count * PACE))
        seen["quiet"].extend(ages)
        return median(ages)

    return p50


def _watched(
    workers: tuple[Worker, Worker, Worker, Worker], count: int, seen: dict[str, list[float]]
) -> Callable[[], float]:
    host, sender, reader, audience = workers

    def p50() -> float:
        audience.order({"viewers": VIEWERS, "count": count})
        audience.result()
        before = _cpu(host)
        reader.order({"count": count})
        audience.order({"every": 10})
        sender.order({"count": count, "pause": PACE})
        sender.result()
        ages = reader.result()["ages"]
        seen["page"].extend(audience.result()["ages"])
        seen["cpu"].append((_cpu(host) - before) / (count * PACE))
        seen["watched"].extend(ages)
        return median(ages)

    return p50


def _cpu(host: Worker) -> float:
    host.order({})
    return float(host.result()["cpu"])
