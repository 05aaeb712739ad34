"""A plan of any size: laid in pieces, all or nothing to those who work."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import pytest

from moot.board import applying, laying
from moot.board.claims import Refused
from moot.board.errors import InvalidTransition, PlanRefused
from moot.board.plans import Plan
from moot.core.caller import SYSTEM, Caller
from moot.core.tx import Tx
from moot.store.store import Store
from tests.board.desk import Desk, desk, planned

T = TypeVar("T")
LINES = ["t0", *(f"t{n}: t{n // 2} ~t0" for n in range(1, 12))]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "PIECE", 3)
    monkeypatch.setattr(applying, "MOST_AT_ONCE", 5)


async def apply(made: Desk, *lines: str) -> laying.Laid:
    return await applying.apply(made.store, made.board.id, Plan("a plan", tasks=planned(*lines)), SYSTEM)


class Killed(Exception):
    pass


class Mortal:
    """A store whose user is killed after so many writes."""

    def __init__(self, store: Store, writes: int) -> None:
        self._store = store
        self._left = writes

    def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> Awaitable[T]:
        if not self._left:
            raise Killed
        self._left -= 1
        return self._store.write(change, caller=caller)


async def test_a_large_plan_is_the_same_as_a_small_one(store: Store) -> None:
    made, small = await desk(store), await desk(store)
    laid = await apply(made, *LINES)
    assert (laid.added, laid.kept, laid.removed) == (12, 0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(applying, "MOST_AT_ONCE", 100)
        await apply(small, *LINES)
    for line in LINES:
        name = line.partition(":")[0]
        one, other = await made.task(name), await small.task(name)
        assert (one.rank, one.blockers, one.status) == (other.rank, other.blockers, other.status)
    while ready := await made.ready():
        for name in ready:
            await made.do(name)
    assert await made.turns() == ["planning", "ready", "ready", "in_progress", "completed"]


async def test_what_is_wrong_is_said_before_anything_is_written(store: Store) -> None:
    made = await desk(store, "a")
    with pytest.raises(PlanRefused, match="Tasks wait for each other"):
        await apply(made, *LINES, "x: y", "y: x")
    assert await made.ready() == ["a"]


@pytest.mark.parametrize("writes", [1, 2, 4, 6, 9])
async def test_a_plan_that_was_interrupted_cannot_be_worked_on_and_starts_over(store: Store, writes: int) -> None:
    made = await desk(store)
    with pytest.raises(Killed):
        await apply(Desk(cast(Store, Mortal(store, writes)), made.board), *LINES)
    assert await made.status() == "planning"
    with pytest.raises(PlanRefused, match="not all there yet"):
        await made.add("more")
    with pytest.raises(InvalidTransition, match="not all there yet"):
        await made.move("ready")
    if writes > 2:
        refused = await made.claim("t0")
        assert isinstance(refused, Refused)
        assert refused.obstacle == "workflow"
        with pytest.raises(InvalidTransition, match="not all there yet"):
            await made.skip("t0")
    await apply(made, *LINES)
    assert await made.ready() == ["t0"]


class Slow:
    """A store to which somebody else comes before one of the writes."""

    def __init__(self, store: Store, writes: int, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._store = store
        self._left = writes
        self._meanwhile = meanwhile

    async def write(self, change: Callable[[Tx], T], /, *, caller: Caller) -> T:
        self._left -= 1
        if not self._left:
            await self._meanwhile()
        return await self._store.write(change, caller=caller)


@pytest.mark.parametrize("writes", [2, 3, 5, 9])
async def test_who_applies_a_plan_last_sets_it(store: Store, writes: int) -> None:
    made = await desk(store)
    slow = Slow(store, writes, lambda: apply(made, *LINES[:8]))
    with pytest.raises(PlanRefused, match="Somebody else"):
        await apply(Desk(cast(Store, slow), made.board), *LINES)
    assert await made.status() == "ready"
    done: list[str] = []
    while ready := await made.ready():
        done += ready
        for name in ready:
            await made.do(name)
    assert sorted(done) == [f"t{number}" for number in range(8)]


async def test_work_that_has_begun_is_not_planned_away_by_a_large_plan(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.skip("a")
    with pytest.raises(PlanRefused, match="before work begins"):
        await apply(made, *LINES)
    await made.do("b")
    with pytest.raises(PlanRefused, match="is completed"):
        await apply(made, *LINES)
