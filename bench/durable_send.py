"""What does a durable send cost: many callers at once, and one who waits for each?

The measure is the same rows written raw, by the same statements in one thread, each send in a commit of its own.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench import commits, loops, sending
from bench.harness import Figure, Rounds, Scale, interleaved, micros
from bench.place import disk
from bench.raw_rows import RawRows
from bench.sending import Tally

MANY = 64


def measure(scale: Scale, folder: Path) -> list[Figure]:
    with loops.runner() as runner, commits.watched() as batches:
        channel = runner.run(sending.open_channel(folder / "moot"))
        beside = runner.run(sending.open_channel(folder / "raw"))
        raw = RawRows(folder / "raw", beside)
        tallies: dict[str, list[Tally]] = {"many": [], "one": [], "raw": []}
        sizes: list[float] = []

        def kept(side: str, tally: Callable[[], Tally]) -> Callable[[], float]:
            def seconds_per_send() -> float:
                batches.clear()
                tallies[side].append(tally())
                if side == "many":
                    sizes.append(tallies[side][-1].sends / len(batches))
                return 1 / tallies[side][-1].per_second

            return seconds_per_send

        rounds = interleaved(
            scale,
            many=kept("many", lambda: runner.run(sending.send_for(channel, MANY, scale.seconds))),
            raw=kept("raw", lambda: raw.send_for(scale.seconds)),
            one=kept("one", lambda: runner.run(sending.send_for(channel, 1, scale.seconds))),
            disk=disk(folder, scale.seconds / 4),
        )
        raw.close()
        runner.run(channel.store.close())
        runner.run(beside.store.close())
    return figures(rounds, tallies, median(sizes))


def figures(rounds: Rounds, tallies: dict[str, list[Tally]], sends_per_commit: float) -> list[Figure]:
    raw = f"raw {_spelled(rounds, 'raw', tallies)}"
    syncs = f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds"
    return [
        Figure(
            f"{MANY} callers, times the rate of raw rows with a commit each",
            rounds.ratio("raw", "many"),
            8,
            "at least",
            (f"moot {_spelled(rounds, 'many', tallies)}, {sends_per_commit:.0f} sends a commit; {raw}", syncs),
        ),
        Figure(
            "one caller, times the time of raw rows",
            rounds.ratio("one", "raw"),
            1.6,
            "at most",
            (f"moot {_spelled(rounds, 'one', tallies)}; {raw}", syncs),
        ),
    ]


def _spelled(rounds: Rounds, side: str, tallies: dict[str, list[Tally]]) -> str:
    cpu = median(tally.cpu / tally.sends for tally in tallies[side])
    return f"{1 / rounds.middle(side):,.0f}/s, CPU {micros(cpu)} a send"
