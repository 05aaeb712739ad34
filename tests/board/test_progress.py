"""Tasks end with an outcome or an error; that frees what waits for them, and ends the board when nothing is left."""

import asyncio

import pytest

from moot.board import boards, progress, states, tasks
from moot.board.claims import Taken
from moot.board.errors import ClaimLost, InvalidTransition
from moot.board.progress import Result
from moot.board.states import TaskStatus
from moot.core.caller import SYSTEM
from moot.core.errors import InvalidInput
from moot.store.store import Store
from tests.board.desk import ANN, BOB, desk


async def test_a_board_is_completed_with_its_last_task(store: Store) -> None:
    made = await desk(store, "a", "b: a")
    assert await made.status() == "ready"
    await made.do("a")
    assert await made.status() == "in_progress"
    await made.do("b")
    assert await made.status() == "completed"
    done = await made.task("b")
    assert (done.status, done.outcome, done.done_by, done.holder) == ("completed", "b is done", ANN.agent, None)


async def test_a_failed_task_holds_back_what_needs_it_until_it_is_tried_again(store: Store) -> None:
    made = await desk(store, "a", "b: a")
    await made.claim("a")
    await made.fail("a")
    assert await made.ready() == []
    assert await made.status() == "failed"
    assert (await made.task("a")).error == "it broke"
    await made.retry("a")
    assert await made.status() == "in_progress"
    await made.do("a", BOB)
    await made.do("b")
    assert await made.status() == "completed"


async def test_a_board_with_a_failed_task_goes_on_while_anything_else_can(store: Store) -> None:
    made = await desk(store, "a", "b", "c: a")
    await made.claim("a")
    await made.claim("b", BOB)
    await made.fail("a")
    assert await made.status() == "in_progress"
    await made.complete("b", BOB)
    assert await made.status() == "failed"


async def test_nothing_waits_for_what_is_skipped(store: Store) -> None:
    made = await desk(store, "a", "b: a", "c: b")
    await made.claim("a")
    await made.fail("a")
    await made.skip("a")
    assert await made.ready() == ["b"]
    assert await made.status() == "in_progress"
    assert isinstance(await made.claim("b"), Taken)
    await made.skip("b")
    with pytest.raises(ClaimLost):
        await made.complete("b")
    await made.skip("c")
    assert await made.status() == "completed"


async def test_outcome_and_error_are_asked_for(store: Store) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    task = await made.task("a")
    with pytest.raises(InvalidInput, match="outcome"):
        await store.write(lambda tx: progress.complete(tx, task, Result()), caller=SYSTEM)
    with pytest.raises(InvalidInput, match="error"):
        await store.write(lambda tx: progress.fail(tx, task, Result("fine")), caller=SYSTEM)


@pytest.mark.parametrize("before", list(states.TASK))
@pytest.mark.parametrize("after", list(states.TASK))
def test_every_way_that_is_not_in_the_table_is_refused_with_those_that_are(
    before: TaskStatus, after: TaskStatus
) -> None:
    if after in states.TASK[before]:
        states.check_task("a", before, after)
        return
    with pytest.raises(InvalidTransition) as refused:
        states.check_task("a", before, after)
    for allowed in states.TASK[before]:
        assert allowed in refused.value.remedy


async def test_what_is_completed_stays_so(store: Store) -> None:
    made = await desk(store, "a")
    await made.do("a")
    with pytest.raises(InvalidTransition):
        await made.skip("a")
    with pytest.raises(InvalidTransition):
        await made.retry("a")


async def test_two_who_end_the_last_tasks_at_once_end_the_board(store: Store) -> None:
    """Each sees the other at work, if it looks too early."""
    made = await desk(store, *(f"t{n}" for n in range(8)))
    for n in range(8):
        await made.claim(f"t{n}", ANN)
    await asyncio.gather(*(made.complete(f"t{n}", ANN) for n in range(8)))
    assert await made.status() == "completed"


async def test_counts_tell_how_all_tasks_stand(store: Store) -> None:
    made = await desk(store, "a", "b: a", "c")
    await made.do("c")
    counts = await store.read(lambda tx: tasks.counts(tx, made.board.id))
    assert sorted((one.status, one.is_blocked, one.tasks) for one in counts) == [
        ("completed", False, 1),
        ("pending", False, 1),
        ("pending", True, 1),
    ]


async def test_boards_are_found_by_state(store: Store) -> None:
    made = await desk(store, "a")
    instance = made.board.instance
    assert await store.read(lambda tx: boards.all_of(tx, instance, ["in_progress"])) == []
    found = await store.read(lambda tx: boards.all_of(tx, instance, ["ready", "paused"]))
    assert [one.id for one in found] == [made.board.id]
