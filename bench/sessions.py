"""What does a turn of a session cost: in memory and durable, beside a bare loop, pydantic-ai and LangGraph?

Models and tools answer at once, so that all that is left is what everybody adds. The measure of a durable turn is a
bare loop that writes the same events to SQLite at the same level of safety, each in a commit of its own. It is taken
twice: the time tells what is gained by fewer commits, on a slow disk above all; CPU time, what moot itself costs. Peers
run in an environment of their own; where it cannot be made they are absent, and the rest is measured all the same.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

from bench import commits, session_trees
from bench.crew import Worker
from bench.harness import Figure, Rounds, Scale, interleaved, micros
from bench.peers import bare, environment, script
from bench.peers.environment import PeersAbsent
from bench.peers.script import Play
from bench.place import disk

_EARLY, _LATE, _AROUND = 20, 200, 10
_PEERS = {
    "pydantic_ai": "bench.peers.pydantic_ai_agents:playing",
    "langgraph": "bench.peers.langgraph_graphs:playing",
}
_NAMES = {"pydantic_ai": "pydantic-ai", "langgraph": "LangGraph", "langgraph_durable": "LangGraph with SqliteSaver"}


@dataclass(frozen=True, slots=True)
class Peers:
    """Those who are there, ready for orders; else why nobody is."""

    workers: Mapping[str, Worker] = field(default_factory=dict[str, Worker])
    absence: str = ""


def measure(scale: Scale, folder: Path) -> list[Figure]:
    with _peers() as peers:
        figures = [figure for play in script.PLAYS.values() for figure in _scenario(play, scale, folder, peers)]
    return [*figures, _growth(scale, folder)]


@contextmanager
def _peers() -> Generator[Peers]:
    try:
        python = environment.python()
    except PeersAbsent as error:
        yield Peers(absence=str(error))
        return
    with ExitStack() as ends:
        workers: dict[str, Worker] = {}
        for name, target in _PEERS.items():
            workers[name] = Worker(target, {}, python)
            ends.callback(workers[name].end)
        for worker in workers.values():
            worker.result()
        yield Peers(workers)


@dataclass(frozen=True, slots=True)
class Table:
    """What the sides of one scenario took besides CPU time, by name."""

    walls: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    commits: dict[str, float] = field(default_factory=dict[str, float])

    def wall(self, side: str) -> float:
        return median(self.walls[side])

    def ratio(self, over: str, under: str) -> float:
        return median(a / b for a, b in zip(self.walls[over], self.walls[under], strict=True))


def _scenario(play: Play, scale: Scale, folder: Path, peers: Peers) -> list[Figure]:
    table = Table()
    requests = play.repeats * play.turns
    name, repeats, place = play.name, play.repeats, folder / play.name

    def side(called: str, run: Callable[[], tuple[float, float]]) -> Callable[[], float]:
        def cpu_per_turn() -> float:
            cpu, wall = run()
            table.walls.setdefault(called, []).append(wall / requests)
            return cpu / requests

        return cpu_per_turn

    def durable() -> tuple[float, float]:
        with commits.watched() as batches:
            timed = session_trees.as_attempts(name, repeats, place / "moot", batches)
        table.commits["durable"] = timed.commits / requests
        return timed.cpu, timed.wall

    def peer(worker: Worker, called: str, where: str | None) -> tuple[float, float]:
        worker.order({"scenario": name, "repeats": max(1, repeats // 2), "folder": where})
        found = worker.result()
        table.commits[called] = found.get("commits", 0.0)
        share = repeats / max(1, repeats // 2)
        return found["cpu"] * share, found["wall"] * share

    runs: dict[str, Callable[[], tuple[float, float]]] = {
        "memory": lambda: session_trees.in_memory(name, repeats),
        "bare": lambda: bare.run(name, repeats, None),
        "durable": durable,
        "bare_durable": lambda: bare.run(name, repeats, place / "bare"),
        "bare_gathered": lambda: bare.run(name, repeats, place / "gathered", is_gathered=True),
    }
    for called, worker in peers.workers.items():
        runs[called] = lambda worker=worker, called=called: peer(worker, called, None)
    if "langgraph" in peers.workers:
        where = str(place / "langgraph")
        runs["langgraph_durable"] = lambda: peer(peers.workers["langgraph"], "langgraph_durable", where)
    for run in runs.values():  # once for nothing: imports, caches, files
        run()
    sides = {called: side(called, run) for called, run in runs.items()}
    rounds = interleaved(scale, **sides, disk=disk(folder, scale.seconds / 4))
    return _figures(play, rounds, table, peers)


def _figures(play: Play, rounds: Rounds, table: Table, peers: Peers) -> list[Figure]:
    def cost(side: str) -> str:
        return f"{micros(table.wall(side))} (CPU {micros(rounds.middle(side))})"

    gathered = f"{table.ratio('durable', 'bare_gathered'):.2f}x, CPU {rounds.ratio('durable', 'bare_gathered'):.2f}x"
    kept = (
        f"durable: moot {cost('durable')}, {table.commits['durable']:.1f} commits a turn; bare {cost('bare_durable')}",
        f"of bare with as few commits as one session of moot's makes: {gathered}",
        f"in memory: moot {cost('memory')}; bare {cost('bare')}",
        f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
    )
    absent = [f"peers are absent: {peers.absence}"] if peers.absence else []
    return [
        Figure(
            f"{play.words}: time of a durable turn, times bare",
            table.ratio("durable", "bare_durable"),
            1.5,
            "at most",
            (*kept, *absent),
        ),
        Figure(
            f"{play.words}: CPU of a durable turn, times bare",
            rounds.ratio("durable", "bare_durable"),
            1.5,
            "at most",
        ),
        *_against_peers(play, rounds, table),
    ]


def _against_peers(play: Play, rounds: Rounds, table: Table) -> list[Figure]:
    """The durable peer is judged; the others are told."""
    if "langgraph_durable" not in table.walls:
        return []

    def told(side: str) -> str:
        return f"{_NAMES[side]} {micros(table.wall(side))} (CPU {micros(rounds.middle(side))})"

    facts = [
        f"{told(side)}: {rounds.ratio(side, 'memory'):.1f}x the CPU of moot in memory"
        for side in ("pydantic_ai", "langgraph")
    ]
    side = "langgraph_durable"
    durable = (
        f"{told(side)}, {table.commits[side]:.1f} commits a turn: "
        f"{table.ratio(side, 'durable'):.1f}x the time of durable moot"
    )
    return [
        Figure(
            f"{play.words}: CPU of LangGraph with SqliteSaver, times moot",
            rounds.ratio(side, "durable"),
            3,
            "at least",
            (durable, *facts),
        )
    ]


def _growth(scale: Scale, folder: Path) -> Figure:
    """By CPU time: what a turn waits for the disk does not depend on what was before it."""
    late: list[float] = []
    early: list[float] = []
    place, turns = folder / "long", _LATE + _AROUND + 1
    session_trees.as_attempts("tools", 1, place, turns=_EARLY)  # once for nothing, or the early turns would be the cold
    for _ in range(scale.rounds):
        timed = session_trees.as_attempts("tools", 1, place, turns=turns)
        moments = timed.shop.moments
        costs = [after - before for before, after in pairwise(moments)]
        early.append(median(costs[_EARLY - _AROUND : _EARLY + _AROUND]))
        late.append(median(costs[_LATE - _AROUND : _LATE + _AROUND]))
    return Figure(
        f"CPU of turn {_LATE}, times turn {_EARLY}, durable",
        median(a / b for a, b in zip(late, early, strict=True)),
        1.1,
        "at most",
        (
            f"turn {_EARLY} {micros(median(early))}; turn {_LATE} {micros(median(late))}",
            f"medians of {2 * _AROUND} turns around each, and of {len(early)} rounds",
        ),
    )
