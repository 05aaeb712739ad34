"""What answers are worth when the disk fails: proven against images of what a crash would leave."""

import asyncio
import contextlib
import itertools
import math
import random
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw
import pytest

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import StreamId
from moot.core.tx import Query, Tx
from moot.store import sqlite, streams
from moot.store.errors import StoreFull, StoreUnavailable
from moot.store.sqlite import SqliteStore
from moot.store.store import Limits
from tests.store.sqlite import faulty
from tests.store.sqlite.faulty import BROKEN, FULL, UNSYNCED, Call, Disk, Fault, Survives

DEADLINE = 20.0
HERE = threading.current_thread().name
FOR_EVER = range(1, 1_000_000)
LIMITS = Limits(batch_seconds=DEADLINE, at_once_seconds=0)  # a batch ends when everything that waits is in it
PAGES = "x" * 20_000  # a note of several pages: too many for a small cache, so they reach the log before the commit
MAKE = Query("make", "create table notes (name text primary key, body text not null) strict", "")
COUNT = Query("count", "select count(*) from notes", "")
SHRINK = Query("shrink", "update notes set body = ''", "")
SMALL_CACHE = Query("small_cache", "pragma cache_size = 1", "")
ADD = Query("add", "insert into notes (name, body) values (:name, :body)", "")
NOTES = StreamId("notes")


NONE = type(None)


class Refused(MootError):
    """The function's own failure, after it has written."""


@dataclass
class Machine:
    """A store on a disk that fails, and a record of every answer it gave."""

    disk: Disk
    folder: Path
    store: SqliteStore
    done: set[str] = field(default_factory=set[str])
    undone: set[str] = field(default_factory=set[str])
    unknown: set[str] = field(default_factory=set[str])
    images: Iterator[int] = field(default_factory=itertools.count)

    @property
    def database(self) -> Path:
        return self.folder / "moot.db"

    async def note(self, name: str, body: str = "") -> BaseException | None:
        """Add one note; None or the error it was answered with."""
        return (await self.together({name: adds(name, body)}))[name]

    async def together(self, changes: dict[str, Callable[[Tx], None]]) -> dict[str, BaseException | None]:
        """Run them in one batch, note every answer, and compare with what crashes would leave."""
        answers = await in_one_batch(self.store, changes)
        self.note_down(answers)
        return answers

    def note_down(self, answers: dict[str, BaseException | None]) -> None:
        for name, answer in answers.items():
            self._book(answer).add(name)
        self.check()

    def _book(self, answer: BaseException | None) -> set[str]:
        if answer is None:
            return self.done
        return self.unknown if "is not known" in str(answer) else self.undone

    def check(self) -> None:
        for survives in (faulty.everything, faulty.nothing, faulty.anything(1), faulty.anything(2)):
            found = notes_in(self.image(survives))
            assert found >= self.done, "an answered success was lost"
            assert not found & self.undone, "an answered failure came back to life"
            assert found <= self.done | self.unknown

    def image(self, survives: Survives) -> Path:
        return self.disk.image(self.database, self.folder / f"image-{next(self.images)}", survives)


def adds(name: str, body: str = "") -> Callable[[Tx], None]:
    def change(tx: Tx) -> None:
        tx.run(ADD, name=name, body=body)
        tx.emit(Event(NOTES, "noted", name))

    return change


def refuses(name: str) -> Callable[[Tx], None]:
    def change(tx: Tx) -> None:
        tx.run(ADD, name=name, body=PAGES)
        tx.emit(Event(NOTES, "noted", name))
        raise Refused("I changed my mind.")

    return change


def begins(tx: Tx) -> None:
    tx.run(MAKE)
    streams.create(tx, NOTES, "notes")


def prepares(tx: Tx) -> None:
    """Makes pages leave the cache early, and the images small."""
    tx.run(SMALL_CACHE)
    tx.run(SHRINK)


async def in_one_batch(store: SqliteStore, changes: dict[str, Callable[[Tx], None]]) -> dict[str, BaseException | None]:
    """The first function holds the writer until all others wait behind it."""
    loop = asyncio.get_running_loop()
    has_begun, may_go_on = asyncio.Event(), threading.Event()

    def hold(tx: Tx) -> None:
        loop.call_soon_threadsafe(has_begun.set)
        assert may_go_on.wait(DEADLINE)

    async with asyncio.timeout(DEADLINE):
        holding = asyncio.ensure_future(store.write(hold, caller=SYSTEM))
        is_held = asyncio.ensure_future(has_begun.wait())
        await asyncio.wait((holding, is_held), return_when=asyncio.FIRST_COMPLETED)
        is_held.cancel()
        waiting = [asyncio.ensure_future(store.write(change, caller=SYSTEM)) for change in changes.values()]
        await asyncio.sleep(0)  # now each of them is in the queue
        may_go_on.set()
        answers = await asyncio.gather(holding, *waiting, return_exceptions=True)
    return dict(zip(changes, answers[1:], strict=True))


def notes_in(image: Path) -> set[str]:
    with closing(apsw.Connection(str(image), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.pragma("synchronous", "off")
        assert connection.pragma("integrity_check") == "ok"
        found = [str(name) for (name,) in connection.execute("select name from notes order by name")]
        events = list(connection.execute("select seq, subject from events order by seq"))
        assert [seq for seq, _ in events] == [*range(1, len(found) + 1)], "numbers have no gaps"
        assert sorted(str(subject) for _, subject in events) == found
        return set(found)


@asynccontextmanager
async def running(folder: Path, limits: Limits) -> AsyncGenerator[Machine]:
    disk = Disk(f"faulty-{folder.name}")
    store = sqlite.open_file(folder / "moot.db", create=True, limits=limits, vfs=disk.name)
    await store.write(begins, caller=SYSTEM)
    yield Machine(disk, folder, store)
    disk.faults = []
    await store.close()
    disk.unregister()


@pytest.fixture
async def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Machine]:
    monkeypatch.setattr("moot.store.sqlite.log._LONG_PAGES", 40)  # the log starts over now and then
    async with running(tmp_path, LIMITS) as machine:
        yield machine


@pytest.fixture
async def direct(tmp_path: Path) -> AsyncGenerator[Machine]:
    """Commits on the callers' own thread, however long it takes."""
    async with running(tmp_path, Limits(at_once_seconds=math.inf)) as machine:
        yield machine


async def test_a_batch_without_faults_is_done(machine: Machine) -> None:
    answers = await machine.together({"a": adds("a"), "b": refuses("b"), "c": adds("c")})
    assert answers["a"] is answers["c"] is None
    assert isinstance(answers["b"], Refused)
    assert notes_in(machine.image(faulty.nothing)) == {"a", "c"}


@pytest.mark.parametrize(("code", "call"), [(FULL, "write"), (BROKEN, "write"), (UNSYNCED, "sync")])
async def test_one_fault_at_any_point_of_a_batch_harms_nobody(machine: Machine, code: int, call: Call) -> None:
    number, fault = 0, None
    while fault is None or fault.fired:
        number += 1
        await machine.store.write(prepares, caller=SYSTEM)
        machine.disk.faults = [fault := Fault(code, {call}, at={number})]
        a, b, c = (f"{number}-{letter}" for letter in "abc")
        answers = await machine.together({a: adds(a, PAGES), b: refuses(b), c: adds(c)})
        machine.disk.faults = []
        assert [type(answer) for answer in answers.values()] == [NONE, Refused, NONE]
        assert await machine.note(f"{number}-after") is None
    assert number > (20 if call == "write" else 1)  # there are as many points to fail at, and then no more


@pytest.mark.parametrize(
    ("code", "call", "change"),
    [
        (FULL, "write", adds),
        (BROKEN, "write", adds),
        (UNSYNCED, "sync", adds),
        (FULL, "write", refuses),
        (BROKEN, "write", refuses),
    ],
)
async def test_a_fault_at_any_point_of_a_commit_at_once_harms_nobody(
    direct: Machine, code: int, call: Call, change: Callable[[str], Callable[[Tx], None]]
) -> None:
    number, fault, threads = 0, None, set[int]()
    while fault is None or fault.fired:
        number += 1
        await direct.store.write(prepares, caller=SYSTEM)
        direct.disk.faults = [fault := Fault(code, {call}, at={number}, thread=HERE)]
        name = f"{number}"

        def noted(tx: Tx, name: str = name) -> None:
            threads.add(threading.get_ident())
            change(name)(tx)

        (answer,) = await asyncio.gather(direct.store.write(noted, caller=SYSTEM), return_exceptions=True)
        direct.disk.faults = []
        assert isinstance(answer, NONE if change is adds else Refused)
        direct.note_down({name: answer})
    assert number > 1
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("failed", range(16), ids=lambda failed: f"{failed:04b}")
async def test_any_of_the_first_four_syncs_of_a_commit_at_once_may_fail(direct: Machine, failed: int) -> None:
    at = {bit + 1 for bit in range(4) if failed >> bit & 1}
    direct.disk.faults = [Fault(UNSYNCED, {"sync"}, at, thread=HERE)]
    (answer,) = await asyncio.gather(direct.store.write(adds("a"), caller=SYSTEM), return_exceptions=True)
    direct.note_down({"a": answer})
    direct.disk.faults = []
    assert await direct.store.write(adds("after"), caller=SYSTEM) is None


async def test_no_memory_at_any_point_of_a_batch(machine: Machine) -> None:
    number, is_short = 0, True
    while is_short:
        number += 1
        await machine.store.write(prepares, caller=SYSTEM)
        a, b, c = (f"{number}-{letter}" for letter in "abc")
        before = apsw.hard_heap_limit(apsw.memory_used() + 4_000 * number)
        try:
            answers = await in_one_batch(machine.store, {a: adds(a, PAGES), b: refuses(b), c: adds(c)})
        finally:
            apsw.hard_heap_limit(before)
        machine.note_down(answers)
        is_short = [type(answer) for answer in answers.values()] != [NONE, Refused, NONE]
        assert await machine.note(f"{number}-after") is None
    assert number > 5


@pytest.mark.parametrize("failed", range(64), ids=lambda failed: f"{failed:06b}")
async def test_any_of_the_first_six_syncs_may_fail(machine: Machine, failed: int) -> None:
    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={bit + 1 for bit in range(6) if failed >> bit & 1})]
    await machine.together({"a": adds("a"), "b": refuses("b"), "c": adds("c", PAGES)})
    machine.disk.faults = []
    assert await machine.note("after") is None


async def test_a_commit_that_failed_is_repeated(machine: Machine) -> None:
    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1})]
    answers = await machine.together({"a": adds("a"), "b": adds("b")})
    assert list(answers.values()) == [None, None]


async def test_only_the_function_that_fails_again_alone_is_refused(machine: Machine) -> None:
    # The batch, its barrier, the first function alone.
    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1, 3})]
    answers = await machine.together({"a": adds("a"), "b": adds("b")})
    assert isinstance(answers["a"], StoreUnavailable)
    assert answers["b"] is None
    assert machine.undone == {"a"}


async def test_without_a_barrier_nobody_knows(machine: Machine) -> None:
    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1, 2})]
    await machine.together({"a": adds("a"), "b": adds("b")})
    assert machine.unknown == {"a", "b"}
    assert await machine.note("after") is None


async def test_a_failure_answered_after_a_failed_commit_does_not_come_back(machine: Machine) -> None:
    runs = itertools.count()

    def changes_its_mind(tx: Tx) -> None:
        if next(runs) > 0:
            raise Refused("Not the second time.")  # before it writes anything that would cover the first commit
        tx.run(ADD, name="a", body="")

    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1})]
    answers = await machine.together({"a": changes_its_mind})
    assert isinstance(answers["a"], Refused)


async def test_a_function_that_swallows_a_rollback_commits_nothing_on_its_own(machine: Machine) -> None:
    runs = itertools.count()

    def swallows(tx: Tx) -> None:
        if next(runs) > 0:
            raise Refused("Not the second time.")
        tx.run(SMALL_CACHE)
        for part in range(9):
            with contextlib.suppress(Exception):
                tx.run(ADD, name=f"part-{part}", body=PAGES)

    machine.disk.faults = [fault := Fault(FULL, {"write"}, at={1})]
    answers = await machine.together({"a": swallows})
    assert fault.fired
    assert isinstance(answers["a"], Refused)
    assert notes_in(machine.image(faulty.everything)) == set()


@pytest.mark.parametrize("body", ["", PAGES], ids=["at-commit", "in-the-function"])
async def test_a_full_disk_refuses_and_goes_on_when_there_is_room(machine: Machine, body: str) -> None:
    for number in range(1, 12):
        await machine.store.write(prepares, caller=SYSTEM)
        machine.disk.faults = [Fault(FULL, {"write"}, at=range(number, FOR_EVER.stop))]
        names = [f"{number}-{letter}" for letter in "abc"]
        answers = await machine.together({name: adds(name, body) for name in names})
        refused = [answer for answer in answers.values() if answer is not None]
        assert len(refused) == 3 or number > 1
        assert all(isinstance(answer, StoreFull) for answer in refused)
        assert await count(machine.store) == len(machine.done)
        machine.disk.faults = []
        assert await machine.note(f"{number}-after") is None


async def test_a_dead_disk_refuses_and_goes_on_when_it_is_back(machine: Machine) -> None:
    for number in range(1, 12):
        dead = range(number, FOR_EVER.stop)
        machine.disk.faults = [Fault(BROKEN, {"write"}, at=dead), Fault(UNSYNCED, {"sync"}, at=dead)]
        names = [f"{number}-{letter}" for letter in "abc"]
        answers = await machine.together({name: adds(name) for name in names})
        refused = [answer for answer in answers.values() if answer is not None]
        assert len(refused) == 3 or number > 1
        assert all(isinstance(answer, StoreUnavailable) for answer in refused)
        machine.disk.faults = []
        assert await machine.note(f"{number}-after") is None


async def test_a_file_that_cannot_be_opened_again_is_tried_with_every_batch(machine: Machine) -> None:
    machine.disk.faults = [
        Fault(UNSYNCED, {"sync"}, at={1, 2}),
        Fault(apsw.SQLITE_CANTOPEN, {"open"}, at=FOR_EVER, file="main"),
    ]
    await machine.note("a")
    assert machine.unknown == {"a"}
    assert isinstance(await machine.note("b"), StoreUnavailable)
    assert isinstance(await machine.note("c"), StoreUnavailable)
    assert machine.undone == {"b", "c"}
    machine.disk.faults = []
    assert await machine.note("d") is None


@pytest.mark.parametrize("file", ["main", "-wal"])
async def test_a_failed_read_harms_nobody_for_long(machine: Machine, file: Literal["main", "-wal"]) -> None:
    number, fault = 0, None
    while fault is None or fault.fired:
        number += 1
        # A connection that was dropped has to read everything again.
        machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1, 2})]
        await machine.note(f"{number}-dropped")
        machine.disk.faults = [fault := Fault(apsw.SQLITE_IOERR_READ, {"read"}, at={number}, file=file)]
        await machine.together({f"{number}-a": adds(f"{number}-a"), f"{number}-b": adds(f"{number}-b", PAGES)})
        machine.disk.faults = []
        assert await machine.note(f"{number}-after") is None
    assert number > 1


@pytest.mark.parametrize(("code", "call"), [(FULL, "write"), (BROKEN, "write"), (UNSYNCED, "sync")])
async def test_a_failed_checkpoint_fails_no_commit(
    machine: Machine, code: int, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.log._LONG_PAGES", 5)
    number, fault = 0, None
    while fault is None or fault.fired:
        number += 1
        machine.disk.faults = [fault := Fault(code, {call}, at={number}, file="main")]
        for name in "abc":
            assert await machine.note(f"{number}-{name}") is None
        machine.disk.faults = []
        machine.check()
    assert number > 1


async def test_after_a_power_loss_at_any_moment_all_that_was_answered_is_there(machine: Machine) -> None:
    left: list[tuple[frozenset[str], Path]] = []

    def power_loss() -> None:
        kinds = (faulty.everything, faulty.nothing, faulty.anything(len(left)))
        left.extend((frozenset(machine.done), machine.image(kind)) for kind in kinds)

    machine.disk.on_change = power_loss
    for number in range(6):
        await machine.together({f"{number}-a": adds(f"{number}-a", PAGES), f"{number}-b": refuses(f"{number}-b")})
    machine.disk.on_change = None
    assert len(left) > 200
    for done, image in left:
        assert done <= notes_in(image) <= machine.done


async def test_a_store_opens_from_a_crash_and_goes_on(machine: Machine) -> None:
    machine.disk.faults = [Fault(UNSYNCED, {"sync"}, at={1, 3})]
    await machine.together({"a": adds("a"), "b": adds("b")})
    again = sqlite.open_file(machine.image(faulty.everything), create=False)
    assert await count(again) == 1
    await again.write(adds("c"), caller=SYSTEM)
    assert await count(again) == 2
    await again.close()


async def count(store: SqliteStore) -> int:
    return await store.read(lambda tx: tx.one(COUNT, int))


@pytest.mark.parametrize("seed", [4, 15])
async def test_what_a_full_disk_has_refused_stays_refused_though_its_rest_lay_there_already(
    machine: Machine, seed: int
) -> None:
    """Found among those below: the last write of a commit fails half-way, over the same bytes of an older log."""
    await draw_faults(machine, seed, rounds=20)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(40))
async def test_whatever_fails_in_whatever_order(machine: Machine, seed: int) -> None:
    await draw_faults(machine, seed, rounds=100)


async def draw_faults(machine: Machine, seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    for number in range(rounds):
        await machine.store.write(prepares, caller=SYSTEM)
        machine.disk.faults = [some_fault(dice) for _ in range(dice.randrange(4))]
        changes: dict[str, Callable[[Tx], None]] = {}
        for place in range(dice.randrange(1, 6)):
            name = f"{number}-{place}"
            changes[name] = refuses(name) if dice.random() < 0.2 else adds(name, dice.choice(("", PAGES)))
        await machine.together(changes)
        machine.disk.faults = []
        assert await machine.note(f"{number}-after") is None


def some_fault(dice: random.Random) -> Fault:
    """One that a disk may have: the system's calls fail with these codes and no others."""
    call, code = dice.choice(
        [("open", apsw.SQLITE_CANTOPEN), ("read", apsw.SQLITE_IOERR_READ), ("truncate", apsw.SQLITE_IOERR_TRUNCATE)]
        + 2 * [("write", FULL), ("write", BROKEN), ("sync", UNSYNCED)]
    )
    at = {dice.randrange(1, 40 if call in ("read", "write") else 6) for _ in range(dice.randrange(1, 6))}
    return Fault(code, {call}, at=at, file=dice.choice(("-wal", "-wal", "main")))
