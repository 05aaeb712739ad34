"""One holder at a time; what needs others waits for them; a claim that is not kept alive is lost."""

import pytest

from moot.board import claims, laying, tasks
from moot.board.claims import LEASE, Holder, Refused, Taken
from moot.board.errors import ClaimLost, TaskNotFound
from moot.board.plans import Plan, Planned
from moot.core.caller import SYSTEM
from moot.core.ids import TaskId
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.board.desk import ANN, BOB, desk

SECONDS = LEASE.total_seconds()


async def test_who_comes_first_holds_it(store: Store) -> None:
    made = await desk(store, "a")
    first = await made.claim("a")
    assert isinstance(first, Taken)
    assert first.fence == 1
    second = await made.claim("a", BOB)
    assert isinstance(second, Refused)
    assert (second.obstacle, second.holder) == ("claimed", ANN.agent)
    held = await made.task("a")
    assert (held.status, held.holder, held.hand) == ("planning", ANN.agent, ANN.hand)
    assert await made.status() == "in_progress"


async def test_the_same_holder_again_has_it_anew_and_its_old_hand_is_refused(store: Store) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    anew = Holder(ANN.agent, ANN.name, "another token")
    again = await made.claim("a", anew)
    assert isinstance(again, Taken)
    assert again.fence == 2
    with pytest.raises(ClaimLost):
        await made.complete("a", ANN)
    await made.complete("a", anew)


async def test_what_needs_others_waits_for_them(store: Store) -> None:
    made = await desk(store, "a", "b", "c: a b ~d", "d")
    assert await made.ready() == ["a", "b", "d"]
    refused = await made.claim("c")
    assert isinstance(refused, Refused)
    assert (refused.obstacle, refused.waiting_on) == ("blocked", ("a", "b"))
    await made.do("a")
    await made.do("b", BOB)
    assert await made.ready() == ["c", "d"]


async def test_a_lease_that_has_run_out_is_lost_even_if_nobody_else_came(store: Store, clock: ManualClock) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    clock.advance(SECONDS)
    with pytest.raises(ClaimLost):
        await made.complete("a")
    assert await made.ready() == ["a"]
    assert isinstance(await made.claim("a"), Taken)
    await made.complete("a")


async def test_another_takes_over_what_has_run_out_and_begins_anew(store: Store, clock: ManualClock) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    clock.advance(SECONDS - 1)
    assert isinstance(await made.claim("a", BOB), Refused)
    clock.advance(1)
    taken = await made.claim("a", BOB)
    assert isinstance(taken, Taken)
    assert taken.fence == 2
    with pytest.raises(ClaimLost):
        await made.complete("a")
    await made.complete("a", BOB)


async def test_signs_of_life_keep_all_that_a_hand_holds_and_nothing_that_it_has_lost(
    store: Store, clock: ManualClock
) -> None:
    made = await desk(store, "a", "b")
    await made.claim("a")
    clock.advance(SECONDS - 1)
    await made.claim("b")
    assert await store.write(lambda tx: claims.renew_all(tx, ANN.agent, ANN.hand), caller=SYSTEM) == 2
    clock.advance(SECONDS - 1)
    await made.complete("a")
    clock.advance(1)
    assert await store.write(lambda tx: claims.renew_all(tx, ANN.agent, ANN.hand), caller=SYSTEM) == 0


async def test_released_tasks_wait_for_anybody(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.claim("a")
    await made.claim("b")
    assert await store.write(lambda tx: claims.release_all(tx, ANN.agent, "going home"), caller=SYSTEM) == 2
    assert await made.ready() == ["a", "b"]
    with pytest.raises(ClaimLost):
        await made.complete("a")


async def test_what_is_meant_for_one_is_refused_to_others(store: Store) -> None:
    made = await desk(store)
    plan = Plan(tasks=(Planned("a", assigned="Bob"),))
    await store.write(lambda tx: laying.set_plan(tx, made.board.id, plan), caller=SYSTEM)
    refused = await made.claim("a")
    assert isinstance(refused, Refused)
    assert (refused.obstacle, refused.reason) == ("assigned", "It is meant for Bob.")
    assert isinstance(await made.claim("a", BOB), Taken)


async def test_a_task_of_another_place_is_not_found(store: Store) -> None:
    made = await desk(store, "a")
    with pytest.raises(TaskNotFound):
        await store.read(lambda tx: tasks.get(tx, TaskId("tk_none"), made.board.stream))


async def test_who_holds_it_already_is_told_that_the_workflow_is_paused(store: Store) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    await made.move("paused")
    again = await made.claim("a")
    assert isinstance(again, Refused)
    assert (again.obstacle, again.reason, again.hand) == ("workflow", "The workflow is paused.", None)
    other = await made.claim("a", BOB)
    assert isinstance(other, Refused)
    assert (other.obstacle, other.holder) == ("claimed", ANN.agent)
