"""How many tasks do eight workers claim and complete on PostgreSQL: on eight boards, on one, beside procrastinate?

Each worker is a process with one connection. The measure is a plain program that writes the same rows and decides the
same, its statements prepared. On one board all share the counter of its stream, which is taken last, by moot and by the
plain program. As a limit, the same plain program with one statement for each claim and one for each completion, which
nothing can be composed with. procrastinate runs its own workers, with tasks that do nothing.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import psycopg

from bench import boards, loops, postgres_server
from bench.boards import Desk
from bench.crew import Worker, crew, together
from bench.harness import Figure, Scale, interleaved, micros
from bench.peers import environment
from bench.peers.environment import PeersAbsent
from bench.place import disk
from moot.core.ids import InstanceName
from moot.store import postgres

WORKERS = 8
SIZE, QUICK_SIZE = 100_000, 20_000
JOBS = 20_000
_SIDES = {
    "moot8": ("by_moot", WORKERS),
    "moot1": ("by_moot", 1),
    "raw8": ("by_psycopg", WORKERS),
    "raw1": ("by_psycopg", 1),
    "fewest8": ("by_fewest", WORKERS),
}
_QUEUES = environment.FOLDER.with_name(".bench-queues")
_NEEDS = environment.REQUIREMENTS.with_name("queues.txt")


@dataclass(frozen=True, slots=True)
class Round:
    """What all workers did together."""

    rate: float  # tasks a second
    tasks: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds for one task."""

    worker: float
    server: float


def measure(scale: Scale, folder: Path) -> list[Figure]:
    size = QUICK_SIZE if scale.is_quick else SIZE
    with ExitStack() as opened:
        uri = opened.enter_context(postgres_server.running(folder, 8 * WORKERS))
        server = _server(uri)
        sides: dict[str, Callable[[], float]] = {}
        cpu: dict[str, list[Cpu]] = {}
        for side, (target, count) in _SIDES.items():
            members = _members(f"bench.claimers:{target}", uri, side, count, size)
            workers = opened.enter_context(crew(*members))
            sides[side] = _watched(_rate(workers, scale.seconds), server, cpu.setdefault(side, []))
        absence = ""
        try:
            sides["procrastinate"] = opened.enter_context(_procrastinate(uri, scale))
        except PeersAbsent as error:
            absence = str(error)
        rounds = interleaved(scale, disk=disk(folder, scale.seconds / 4), **sides)
    facts = (f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",)

    def figure(what: str, ours: str, theirs: str, bar: float, *beside: str) -> Figure:
        told = "; ".join(
            f"{side} {rounds.middle(side):,.0f} tasks a second{_spelled(cpu, side)}" for side in (ours, theirs, *beside)
        )
        return Figure(what, rounds.ratio(ours, theirs), bar, "at least", (told, *facts))

    found = [
        figure(f"{WORKERS} workers on {WORKERS} boards, times the rate of raw rows", "moot8", "raw8", 0.7),
        figure(f"{WORKERS} workers on one board, times the rate of raw rows", "moot1", "raw1", 0.8),
    ]
    if absence:
        return [*found, Figure(f"procrastinate is absent: {absence}", 0, 0, "at least")]
    # Its jobs have nothing to do with each other, as tasks of different boards.
    return [
        *found,
        figure(f"{WORKERS} workers on {WORKERS} boards, times procrastinate", "moot8", "procrastinate", 3, "fewest8"),
    ]


def _members(target: str, uri: str, side: str, count: int, size: int) -> list[tuple[str, dict[str, object]]]:
    """Eight workers over so many boards, in a schema of their own."""
    with loops.runner() as runner:
        desks = runner.run(_build(f"{uri}&schema={side}", count))
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"set search_path to {side}".encode())
        for desk in desks:
            boards.fill_postgres(connection, desk, size // count)
        connection.execute("vacuum analyze")
    shared = WORKERS // count
    return [
        (
            target,
            {
                "url": f"{uri}&schema={side}" if "moot" in target else uri,
                "schema": side,
                "board": desk.board.id,
                "stream": desk.board.stream,
                "place": place,
                "workers": shared,
                "share": place % shared,
            },
        )
        for place in range(WORKERS)
        for desk in (desks[place // shared],)
    ]


async def _build(url: str, count: int) -> list[Desk]:
    store = postgres.open_url(url, create=True)
    desks = [await boards.open_desk(store, InstanceName(f"bench{number}")) for number in range(count)]
    await store.close()
    return desks


def _rate(workers: list[Worker], seconds: float) -> Callable[[], Round]:
    def work() -> Round:
        results = together(workers, {"seconds": seconds})
        cpu = sum(found.get("cpu", 0.0) for found in results)
        return Round(
            sum(found["tasks"] / found["seconds"] for found in results), sum(found["tasks"] for found in results), cpu
        )

    return work


def _watched(work: Callable[[], Round], server: psutil.Process, cpu: list[Cpu]) -> Callable[[], float]:
    def tasks_per_second() -> float:
        before = _spent(server)
        done = work()
        cpu.append(Cpu(done.cpu / done.tasks, (_spent(server) - before) / done.tasks))
        return done.rate

    return tasks_per_second


def _server(uri: str) -> psutil.Process:
    with psycopg.connect(uri) as connection:
        parent = psutil.Process(connection.info.backend_pid).parent()
    assert parent is not None
    return parent


def _spent(server: psutil.Process) -> float:
    """Seconds of CPU that the server's processes have used which still run."""
    spent = 0.0
    for one in server.children():
        with suppress(psutil.NoSuchProcess):  # it tidies up now and then
            times = one.cpu_times()
            spent += times.user + times.system
    return spent


def _spelled(cpu: Mapping[str, list[Cpu]], side: str) -> str:
    if side not in cpu:
        return ""
    ours, theirs = (median(values) for values in zip(*((one.worker, one.server) for one in cpu[side]), strict=True))
    return f", CPU of a worker {micros(ours)} and of the server {micros(theirs)} a task"


@contextmanager
def _procrastinate(uri: str, scale: Scale) -> Generator[Callable[[], float]]:
    python = environment.python(_QUEUES, _NEEDS)
    with ExitStack() as ends:
        workers: list[Worker] = []
        for _ in range(WORKERS):
            workers.append(Worker("bench.peers.procrastinate_jobs:working", {"uri": uri}, python))
            ends.callback(workers[-1].end)
        for worker in workers:
            worker.result()
        is_new = True

        def prepared() -> float:
            nonlocal is_new
            workers[0].order({"jobs": JOBS // 10 if scale.is_quick else JOBS, "is_new": is_new})
            workers[0].result()
            is_new = False
            return _rate(workers, 2 * scale.seconds)().rate  # it needs a moment to start

        yield prepared
