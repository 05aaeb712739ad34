"""What does a task cost that is claimed and completed by one who waits for each answer, beside the raw statements?"""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench import boards, loops
from bench.harness import Figure, Scale, interleaved, micros
from bench.place import disk
from bench.raw_claims import RawClaims

SIZE, QUICK_SIZE = 100_000, 20_000


def measure(scale: Scale, folder: Path) -> list[Figure]:
    size = QUICK_SIZE if scale.is_quick else SIZE
    cpu: dict[str, list[float]] = {"moot": [], "raw": []}
    with loops.runner() as runner:
        desk, beside = (runner.run(boards.open_file(folder / name)) for name in ("moot", "raw"))
        for name, one in (("moot", desk), ("raw", beside)):
            boards.fill(folder / name / "moot.db", one, size)
        raw = RawClaims(folder / "raw", beside)
        ours, theirs = boards.ids(desk, 0), boards.ids(beside, 0)

        def timed(side: str, work: Callable[[], float]) -> Callable[[], float]:
            def seconds_per_task() -> float:
                started, began = time.process_time(), time.monotonic()
                seconds = work()
                count = (time.monotonic() - began) / seconds
                cpu[side].append((time.process_time() - started) / count)
                return seconds

            return seconds_per_task

        def moot() -> Awaitable[float]:
            return desk.work_for(ours, scale.seconds)

        rounds = interleaved(
            scale,
            moot=timed("moot", lambda: runner.run(_awaited(moot))),
            raw=timed("raw", lambda: raw.work_for(theirs, scale.seconds)),
            disk=disk(folder, scale.seconds / 4),
        )
        raw.close()
        for one in (desk, beside):
            runner.run(one.store.close())
    return [
        Figure(
            "claim and complete, one caller, times the time of the raw statements",
            rounds.ratio("moot", "raw"),
            1.3,
            "at most",
            (
                "; ".join(f"{side} {_spelled(rounds.middle(side), cpu[side])}" for side in cpu),
                f"two commits a task on both sides; fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
            ),
        )
    ]


async def _awaited(work: Callable[[], Awaitable[float]]) -> float:
    return await work()


def _spelled(seconds: float, cpu: list[float]) -> str:
    return f"{micros(seconds)} a task, CPU {micros(median(cpu))}"
