"""Two transactions that meet over one board: one holder, no lost count, one end."""

from collections.abc import Callable

import pytest

from moot.board import boards, claims, laying, progress, tasks
from moot.board.claims import LEASE, Holder, Refused, Taken
from moot.board.errors import ClaimLost, InvalidTransition, PlanRefused
from moot.board.laying import Laid
from moot.board.plans import Plan
from moot.board.progress import Result
from moot.core.ids import TaskId
from moot.core.tx import Tx
from moot.store.postgres import PostgresStore
from moot.testing.clock import ManualClock
from tests.board.desk import ANN, BOB, Desk, desk, planned
from tests.interleave import interleave

SECONDS = LEASE.total_seconds()


async def id_of(made: Desk, name: str) -> TaskId:
    return (await made.task(name)).id


def claiming(made: Desk, id: TaskId, holder: Holder) -> Callable[[Tx], Taken | Refused]:
    return lambda tx: claims.claim(tx, id, holder, made.board.stream)


def completing(made: Desk, id: TaskId, holder: Holder = ANN) -> Callable[[Tx], None]:
    return lambda tx: made.completed(tx, id, holder)


def failing(made: Desk, id: TaskId, holder: Holder = ANN) -> Callable[[Tx], None]:
    def change(tx: Tx) -> None:
        progress.fail(tx, claims.hold(tx, id, holder.hand, made.board.stream), Result(error="it broke"))

    return change


def skipping(id: TaskId) -> Callable[[Tx], None]:
    return lambda tx: progress.skip(tx, tasks.locked(tx, id), Result())


def planning(made: Desk, *lines: str) -> Callable[[Tx], Laid]:
    return lambda tx: laying.set_plan(tx, made.board.id, Plan(tasks=planned(*lines)))


def adding(made: Desk, *lines: str) -> Callable[[Tx], Laid]:
    return lambda tx: laying.add_tasks(tx, made.board.id, planned(*lines))


async def test_of_two_who_claim_at_once_one_has_it(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a")
    id = await id_of(made, "a")
    met = await interleave(pg_store, claiming(made, id, ANN), claiming(made, id, BOB))
    assert met.second_waited
    assert isinstance(met.first, Taken)
    assert isinstance(met.second, Refused)
    assert (met.second.obstacle, met.second.holder) == ("claimed", ANN.agent)
    assert ((await made.task("a")).hand, await made.status()) == (ANN.hand, "in_progress")


async def test_two_first_claims_begin_a_board_once(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b")
    one, other = await id_of(made, "a"), await id_of(made, "b")
    met = await interleave(pg_store, claiming(made, one, ANN), claiming(made, other, BOB))
    assert isinstance(met.first, Taken)
    assert isinstance(met.second, Taken)
    assert await made.turns() == ["ready", "in_progress"]


async def test_who_releases_what_is_taken_over_at_this_moment_is_refused(
    pg_store: PostgresStore, clock: ManualClock
) -> None:
    made = await desk(pg_store, "a")
    id = await id_of(made, "a")
    await made.claim("a")

    def release(tx: Tx) -> None:
        claims.release(tx, claims.hold(tx, id, ANN.hand, made.board.stream), "enough")

    clock.advance(SECONDS)
    with pytest.raises(ClaimLost):
        await interleave(pg_store, claiming(made, id, BOB), release)
    assert await interleave(pg_store, claiming(made, id, BOB), lambda tx: claims.release_all(tx, ANN.agent, "gone"))
    assert (await made.task("a")).hand == BOB.hand


async def test_who_completes_what_is_released_at_this_moment_is_refused(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a")
    id = await id_of(made, "a")
    await made.claim("a")
    with pytest.raises(ClaimLost):
        await interleave(pg_store, lambda tx: claims.release_all(tx, ANN.agent, "gone"), completing(made, id))
    assert (await made.task("a")).status == "pending"


async def test_the_last_two_tasks_that_end_at_once_end_the_board(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b")
    await made.claim("a")
    await made.claim("b", BOB)
    met = await interleave(
        pg_store, completing(made, await id_of(made, "a")), completing(made, await id_of(made, "b"), BOB)
    )
    assert met.second_waited
    assert await made.turns() == ["ready", "in_progress", "completed"]


async def test_the_last_two_of_which_one_fails_end_the_board_as_failed(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b")
    await made.claim("a")
    await made.claim("b", BOB)
    await interleave(pg_store, completing(made, await id_of(made, "a")), failing(made, await id_of(made, "b"), BOB))
    assert await made.status() == "failed"


async def test_two_needs_that_are_met_at_once_are_both_counted(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b", "c: a b")
    await made.claim("a")
    await made.claim("b", BOB)
    met = await interleave(
        pg_store, completing(made, await id_of(made, "a")), completing(made, await id_of(made, "b"), BOB)
    )
    assert met.second_waited
    assert await made.ready() == ["c"]


@pytest.mark.parametrize("first", ["complete", "add"])
async def test_what_is_added_while_its_need_is_completed_does_not_wait_for_it(
    pg_store: PostgresStore, first: str
) -> None:
    made = await desk(pg_store, "a")
    await made.claim("a")
    both = (completing(made, await id_of(made, "a")), adding(made, "b: a"))
    met = await interleave(pg_store, *(both if first == "complete" else both[::-1]))
    assert met.second_waited
    assert await made.ready() == ["b"]
    assert await made.status() == "in_progress"


async def test_two_who_add_the_same_name_are_told_so(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a")
    with pytest.raises(PlanRefused, match="Two tasks are named 'B'"):
        await interleave(pg_store, adding(made, "b"), adding(made, "B"))
    met = await interleave(pg_store, adding(made, "c"), adding(made, "d: c"))  # it could not know of it before
    assert met.second_waited
    assert await made.ready() == ["a", "b", "c"]


async def test_two_first_plans_follow_each_other(pg_store: PostgresStore) -> None:
    made = await desk(pg_store)
    met = await interleave(pg_store, planning(made, "a", "b"), planning(made, "b", "c: b"))
    assert met.second_waited
    assert (met.second.added, met.second.kept, met.second.removed) == (1, 1, 1)
    assert await made.ready() == ["b"]
    assert await made.turns() == ["ready"]


async def test_what_is_claimed_at_this_moment_cannot_be_planned_away(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b")
    with pytest.raises(PlanRefused, match="being worked on"):
        await interleave(pg_store, claiming(made, await id_of(made, "a"), ANN), planning(made, "b"))
    assert (await made.task("a")).holder == ANN.agent


async def test_what_is_planned_anew_at_this_moment_can_be_claimed_as_it_is_now(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b")
    id = await id_of(made, "a")
    met = await interleave(pg_store, planning(made, "b", "a: b"), claiming(made, id, ANN))
    assert met.second_waited
    assert isinstance(met.second, Refused)
    assert (met.second.obstacle, met.second.waiting_on) == ("blocked", ("b",))
    assert (await made.task("a")).status == "pending"


async def test_a_plan_that_comes_while_a_need_is_completed_counts_it_as_met(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b: a")
    await made.claim("a")
    await interleave(pg_store, completing(made, await id_of(made, "a")), planning(made, "a", "b: a", "c: a"))
    assert await made.ready() == ["b", "c"]
    await made.claim("b")
    await interleave(pg_store, planning(made, "b", "d: b"), completing(made, await id_of(made, "b")))
    assert await made.ready() == ["d"]


@pytest.mark.parametrize("first", ["skip", "complete"])
async def test_a_task_that_is_skipped_while_it_is_completed_ends_once(pg_store: PostgresStore, first: str) -> None:
    made = await desk(pg_store, "a", "b", "c: a b")
    await made.claim("a")
    both = (skipping(await id_of(made, "a")), completing(made, await id_of(made, "a")))
    with pytest.raises(ClaimLost if first == "skip" else InvalidTransition):
        await interleave(pg_store, *(both if first == "skip" else both[::-1]))
    assert (await made.task("a")).status == ("skipped" if first == "skip" else "completed")
    assert (await made.task("c")).blockers == 1


async def test_who_renews_at_the_last_moment_keeps_it(pg_store: PostgresStore, clock: ManualClock) -> None:
    made = await desk(pg_store, "a")
    id = await id_of(made, "a")
    await made.claim("a")
    clock.advance(SECONDS - 1)

    def renew(tx: Tx) -> int:
        found = claims.renew_all(tx, ANN.agent, ANN.hand)
        clock.advance(1)
        return found

    met = await interleave(pg_store, renew, claiming(made, id, BOB))
    assert met.second_waited
    assert met.first == 1
    assert isinstance(met.second, Refused)
    await made.complete("a")


async def test_a_hand_that_its_agent_has_given_up_at_this_moment_cannot_renew(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a")
    id = await id_of(made, "a")
    await made.claim("a")
    anew = Holder(ANN.agent, ANN.name, "another token")
    met = await interleave(pg_store, claiming(made, id, anew), lambda tx: claims.renew_all(tx, ANN.agent, ANN.hand))
    assert met.second_waited
    assert met.second == 0


async def test_a_failed_task_that_is_tried_again_while_it_is_skipped_ends_one_way(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b: a")
    await made.claim("a")
    await made.fail("a")
    id = await id_of(made, "a")
    with pytest.raises(InvalidTransition):
        await interleave(pg_store, skipping(id), lambda tx: progress.retry(tx, tasks.locked(tx, id)))
    assert ((await made.task("a")).status, await made.ready()) == ("skipped", ["b"])


async def test_a_board_that_is_paused_while_its_last_task_ends_is_over_when_it_goes_on(
    pg_store: PostgresStore,
) -> None:
    made = await desk(pg_store, "a")
    await made.claim("a")

    def pause(tx: Tx) -> None:
        boards.move(tx, boards.held(tx, made.board.id), "paused")

    met = await interleave(pg_store, pause, completing(made, await id_of(made, "a")))
    assert met.second_waited
    assert await made.status() == "paused"
    await made.move("in_progress")
    assert await made.status() == "completed"


async def test_a_board_that_fails_while_something_is_freed_by_a_skip_goes_on(pg_store: PostgresStore) -> None:
    made = await desk(pg_store, "a", "b: a", "c: b")
    await made.claim("a")
    met = await interleave(pg_store, failing(made, await id_of(made, "a")), skipping(await id_of(made, "b")))
    assert met.second_waited
    assert await made.turns() == ["ready", "in_progress", "failed", "in_progress"]
    assert isinstance(await made.claim("c"), Taken)
