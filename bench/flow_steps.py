"""What does a step cost that only changes the state, carried out by a host, in units of a bare durable commit?

Every step is on record before the next is begun, so it cannot be had for less than a commit. The bare one changes one
row of one table. Both sides sync as often; what moot adds is computing the step, and more rows.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import apsw

from bench import commits, flowing, loops
from bench.flowing import Stage
from bench.harness import Figure, Scale, interleaved, micros
from bench.place import disk
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.engine.flow import flows
from moot.engine.state import fields

STEPS, QUICK_STEPS = 10_000, 1_000
_HEAD = "name: bench\ndefault_state: {raw: {count: 0}}\nsteps:\n"
LINES = {
    "plain": "  - {type: state_update, path: raw.count, operation: increment, value: 1}\n",
    "computed": '  - {type: state_update, path: raw.count, value: "{{ count + 1 }}"}\n',
}


@dataclass(frozen=True, slots=True)
class Spent:
    """What every round took of one side, by step."""

    cpu: list[float] = field(default_factory=list[float])
    commits: list[float] = field(default_factory=list[float])

    @property
    def told(self) -> str:
        return f"CPU {micros(median(self.cpu))}, {median(self.commits):.2f} commits"


def measure(scale: Scale, folder: Path) -> list[Figure]:
    steps = QUICK_STEPS if scale.is_quick else STEPS
    spent = {side: Spent() for side in ("plain", "computed", "bare")}
    bare = Bare(folder / "bare.db")
    with loops.runner() as runner:
        opened = AsyncExitStack()
        stage = runner.run(opened.enter_async_context(flowing.staged(folder / "moot")))

        def stepped(side: str) -> Callable[[], float]:
            return lambda: runner.run(step(stage, LINES[side], steps, spent[side]))

        rounds = interleaved(
            scale,
            plain=stepped("plain"),
            bare=lambda: bare.commit(steps, spent["bare"]),
            computed=stepped("computed"),
            disk=disk(folder, scale.seconds / 4),
        )
        runner.run(opened.aclose())
    bare.close()
    told = "; ".join(f"{side} {micros(rounds.middle(side))}, {spent[side].told}" for side in spent)
    cpu = median(a / b for a, b in zip(spent["plain"].cpu, spent["bare"].cpu, strict=True))
    return [
        Figure(
            f"{steps:,} state_update steps, times the time of as many bare durable commits",
            rounds.ratio("plain", "bare"),
            2.0,
            "at most",
            (
                f"each: {told}",
                f"CPU, times a bare commit's: {cpu:.2f}",
                f"with an expression in each, times the time: {rounds.ratio('computed', 'bare'):.2f}",
                f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
            ),
        ),
        Figure("commits a step", median(spent["plain"].commits), 1.01, "at most"),
    ]


async def step(stage: Stage, line: str, steps: int, spent: Spent) -> float:
    """Seconds for one step, from the word to go to the end of the flow."""
    flow = await stage.start(_HEAD + line * steps, credits=0)

    def let_go(tx: Tx) -> None:
        flows.allow(tx, flow, None)

    with commits.watched() as batches:
        started, cpu = time.monotonic(), time.process_time()
        await stage.store.write(let_go, caller=SYSTEM)
        ended = await stage.until(flow.id, lambda found: not found.is_live)
        seconds, used = time.monotonic() - started, time.process_time() - cpu
    state = fields.flat(await stage.store.read(lambda tx: flows.fields(tx, flow.id)))
    if ended.status != "completed" or state["count"] != steps or ended.last_step != steps:
        raise RuntimeError(f"the flow did not do its steps: {ended.status} {ended.error} {state}")
    spent.cpu.append(used / steps)
    spent.commits.append((len(batches) - 2) / steps)  # the first lets it go, and the last is its end
    return seconds / steps


class Bare:
    """One row, changed again and again by SQLite alone, durable as moot is."""

    def __init__(self, file: Path) -> None:
        self._connection = apsw.Connection(str(file))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._connection.execute("create table counts (id integer primary key, count integer not null) strict")
        self._connection.execute("insert into counts values (1, 0)")

    def commit(self, times: int, spent: Spent) -> float:
        """Seconds for one."""
        started, cpu = time.monotonic(), time.process_time()
        for _ in range(times):
            self._connection.execute("update counts set count = count + 1 where id = 1").fetchall()
        spent.cpu.append((time.process_time() - cpu) / times)
        spent.commits.append(1.0)
        return (time.monotonic() - started) / times

    @property
    def count(self) -> int:
        ((count,),) = self._connection.execute("select count from counts").fetchall()
        assert isinstance(count, int)
        return count

    def close(self) -> None:
        self._connection.close()
