"""Do eight processes with sixteen sends in flight each get ahead of PostgreSQL with NOTIFY?

PostgreSQL is asked in both ways an application can keep sixteen transactions in flight, a commit each: sixteen
connections with a thread each, and one connection with sixteen transactions in its pipeline. The faster one counts.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import postgres_server
from bench.crew import Order, Worker, crew, together
from bench.harness import Figure, Scale, interleaved
from bench.place import disk
from bench.senders import IN_FLIGHT

PROCESSES = 8


def measure(scale: Scale, folder: Path) -> list[Figure]:
    with ExitStack() as opened:
        uri = opened.enter_context(postgres_server.running(folder, PROCESSES * (IN_FLIGHT + 1)))

        def team(name: str, setup: Order) -> list[Worker]:
            members = [(f"bench.senders:{name}", setup)] * PROCESSES
            return opened.enter_context(crew(*members))

        batches: list[float] = []
        rounds = interleaved(
            scale,
            moot=_rate(team("by_moot", {"folder": str(folder / "moot")}), scale.seconds, batches),
            connections=_rate(team("by_connections", {"uri": uri}), scale.seconds),
            pipeline=_rate(team("by_pipeline", {"uri": uri}), scale.seconds),
            disk=disk(folder, scale.seconds / 4),
        )
    faster = max("connections", "pipeline", key=rounds.middle)
    return [
        Figure(
            f"{PROCESSES} processes, {IN_FLIGHT} in flight each, times the rate of PostgreSQL + NOTIFY",
            rounds.ratio("moot", faster),
            1,
            "at least",
            (
                f"moot {rounds.middle('moot'):,.0f}/s, {median(batches):.1f} sends a commit",
                (
                    f"PostgreSQL {rounds.middle('connections'):,.0f}/s over {IN_FLIGHT} connections each, "
                    f"{rounds.middle('pipeline'):,.0f}/s pipelined on one each"
                ),
                f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
            ),
        )
    ]


def _rate(workers: Sequence[Worker], seconds: float, batches: list[float] | None = None) -> Callable[[], float]:
    def sends_per_second() -> float:
        started = time.monotonic()
        results = together(workers, {"seconds": seconds})
        sends = sum(result["sends"] for result in results)
        if batches is not None:
            batches.append(sends / sum(result["commits"] for result in results))
        return sends / (time.monotonic() - started)

    return sends_per_second
