"""How long does a process that seldom sends wait beside seven that always do?

In a fair queue everybody ahead has one turn. The wait is counted in commits that the others made meanwhile, which shows
the order alone, and in the time of their median batch, which also shows how unevenly the disk and the CPU serve them.
"""

import asyncio
import random
import time
from bisect import bisect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import commits, loops, sending
from bench.commits import Span
from bench.crew import Job, Order, Result, Worker, crew, together
from bench.harness import Figure, Scale, interleaved, millis, quantile
from bench.place import disk

BUSY, PAUSE = 7, 0.02


@dataclass(slots=True)
class Seen:
    """All waits of one side."""

    ahead: list[float] = field(default_factory=list[float])  # commits the others made meanwhile
    waits: list[float] = field(default_factory=list[float])
    in_batches: list[float] = field(default_factory=list[float])  # the same in the others' median batches of that round
    batch: list[float] = field(default_factory=list[float])  # a median a round

    def add(self, waits: list[Span], batches: list[Span]) -> None:
        ends = sorted(end for _, end in batches)
        batch = median(end - start for start, end in batches)
        self.batch.append(batch)
        for start, end in waits:
            self.ahead.append(bisect(ends, end) - bisect(ends, start))
            self.waits.append(end - start)
            self.in_batches.append((end - start) / batch)

    def __str__(self) -> str:
        return (
            f"p99 {quantile(self.ahead, 0.99):.0f} commits, {millis(quantile(self.waits, 0.99))}; "
            f"median {median(self.ahead):.0f}, {millis(median(self.waits))}; "
            f"longest {max(self.ahead):.0f}, {millis(max(self.waits))}"
        )


def measure(scale: Scale, folder: Path) -> list[Figure]:
    fair, unfair = Seen(), Seen()
    with (
        crew(*_members({"folder": str(folder / "fair"), "turnstile": True})) as with_turnstile,
        crew(*_members({"folder": str(folder / "unfair"), "turnstile": False})) as without,
    ):
        rounds = interleaved(
            scale,
            fair=_side(with_turnstile, scale.seconds * 5, fair),
            unfair=_side(without, scale.seconds * 2, unfair),
            disk=disk(folder, scale.seconds / 4),
        )
    who = f"p99 wait of a quiet process beside {BUSY} busy ones"
    in_batches = f"median {median(fair.in_batches):.1f} of them, p99 {quantile(fair.in_batches, 0.99):.1f}"
    facts = (
        str(fair),
        f"a batch of the others {millis(median(fair.batch))}; waits: {in_batches}",
        f"without the turnstile: {unfair}",
        f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds, {len(fair.waits)} waits",
    )
    return [  # seven ahead, and its own
        Figure(f"{who}, in their commits", quantile(fair.ahead, 0.99), BUSY + 1, "at most", facts),
    ]


def _members(setup: Order) -> list[tuple[str, Order]]:
    return [("bench.quiet_process:quiet", setup), *[("bench.quiet_process:busy", setup)] * BUSY]


def _side(workers: list[Worker], seconds: float, seen: Seen) -> Callable[[], float]:
    def measured() -> float:
        quiet, *busy = together(workers, {"seconds": seconds})
        seen.add(quiet["waits"], [span for result in busy for span in result["batches"]])
        return seen.batch[-1]

    return measured


@contextmanager
def busy(setup: Order) -> Generator[Job]:
    if not setup["turnstile"]:
        commits.without_turnstile()
    with loops.runner() as runner, commits.watched() as batches:
        channel = runner.run(sending.open_channel(Path(setup["folder"])))

        def job(order: Order) -> Result:
            batches.clear()
            runner.run(sending.send_for(channel, 16, order["seconds"]))
            return {"batches": list(batches)}

        yield job
        runner.run(channel.store.close())


@contextmanager
def quiet(setup: Order) -> Generator[Job]:
    if not setup["turnstile"]:
        commits.without_turnstile()
    with loops.runner() as runner:
        channel = runner.run(sending.open_channel(Path(setup["folder"])))

        async def sends(seconds: float) -> list[Span]:
            waits: list[Span] = []
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                await asyncio.sleep(PAUSE * random.uniform(0.5, 1.5))
                started = time.monotonic()
                await channel.send()
                waits.append((started, time.monotonic()))
            return waits

        def job(order: Order) -> Result:
            return {"waits": runner.run(sends(order["seconds"]))}

        yield job
        runner.run(channel.store.close())
