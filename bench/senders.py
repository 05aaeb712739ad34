"""Worker processes that keep sixteen durable sends in flight: through moot, and in two ways on PostgreSQL."""

import os
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import repeat
from pathlib import Path

from bench import commits, loops, postgres, sending
from bench.crew import Job, Order, Result

IN_FLIGHT = 16


@contextmanager
def by_moot(setup: Order) -> Generator[Job]:
    with loops.runner() as runner, commits.watched() as batches:
        channel = runner.run(sending.open_channel(Path(setup["folder"])))

        def job(order: Order) -> Result:
            batches.clear()
            tally = runner.run(sending.send_for(channel, IN_FLIGHT, order["seconds"]))
            return {"sends": tally.sends, "commits": len(batches)}

        yield job
        runner.run(channel.store.close())


@contextmanager
def by_connections(setup: Order) -> Generator[Job]:
    with ExitStack() as opened:
        connections = [opened.enter_context(postgres.connect(setup["uri"])) for _ in range(IN_FLIGHT)]
        threads = opened.enter_context(ThreadPoolExecutor(IN_FLIGHT))

        def job(order: Order) -> Result:
            counts = threads.map(_send_for, connections, repeat(order["seconds"]))
            return {"sends": sum(counts)}

        yield job


def _send_for(connection: postgres.Connection, seconds: float) -> int:
    count, prefix, until = 0, _prefix(), time.monotonic() + seconds
    while time.monotonic() < until:
        postgres.send(connection, f"{prefix}{count}")
        count += 1
    return count


@contextmanager
def by_pipeline(setup: Order) -> Generator[Job]:
    with postgres.connect(setup["uri"]) as connection:

        def job(order: Order) -> Result:
            count, prefix, until = 0, _prefix(), time.monotonic() + order["seconds"]
            while time.monotonic() < until:
                with connection.pipeline() as pipeline:
                    for _ in range(IN_FLIGHT):
                        postgres.send(connection, f"{prefix}{count}")
                        pipeline.sync()  # the end of this transaction
                        count += 1
            return {"sends": count}

        yield job


def _prefix() -> str:
    return f"ms_{os.getpid()}_{time.monotonic_ns()}_"
