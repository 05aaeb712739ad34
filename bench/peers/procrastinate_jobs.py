"""Workers of procrastinate that take jobs and finish them. Runs in an environment of its own."""

# pyright: basic, reportMissingImports=false

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

from procrastinate import App, PsycopgConnector

from bench.crew import Job, Order, Result


@contextmanager
def working(setup: Order) -> Generator[Job]:
    """Takes orders: to prepare so many jobs, or to work for some seconds as one worker with a connection of its own."""
    with asyncio.Runner() as runner:

        def job(order: Order) -> Result:
            if "jobs" in order:
                return runner.run(_prepare(setup["uri"], order["jobs"], is_new=order["is_new"]))
            return runner.run(_work(setup["uri"], order["seconds"]))

        yield job


async def _prepare(uri: str, jobs: int, *, is_new: bool) -> Result:
    app = App(connector=PsycopgConnector(conninfo=uri, min_size=1, max_size=1))
    async with app.open_async():
        if is_new:
            await app.schema_manager.apply_schema_async()
        task = app.task(name="nothing")(_nothing)
        for _ in range(0, jobs, 1000):
            await task.batch_defer_async(*({} for _ in range(1000)))
    return {}


async def _work(uri: str, seconds: float) -> Result:
    """How many jobs it did, and in how long from the first to the last."""
    moments: list[float] = []

    async def nothing() -> None:
        moments.append(time.monotonic())

    app = App(connector=PsycopgConnector(conninfo=uri, min_size=1, max_size=2))  # one for its heartbeat
    app.task(name="nothing")(nothing)
    async with app.open_async():
        worker = asyncio.create_task(
            app.run_worker_async(concurrency=1, install_signal_handlers=False, listen_notify=False)
        )
        await asyncio.sleep(seconds)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    if len(moments) < 2:
        return {"tasks": 0, "seconds": seconds}
    return {"tasks": len(moments) - 1, "seconds": moments[-1] - moments[0]}


async def _nothing() -> None:
    """Its work."""
