"""A plan is checked before anything is written; a new one keeps what is finished and what is being worked on."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.board import plans
from moot.board.errors import PlanRefused
from moot.board.plans import find_cycle
from moot.store.store import Store
from tests.board.desk import BOB, desk, planned


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (("a", "A"), "Two tasks are named 'A'."),
        (("ﬁx", "fix"), "Two tasks are named 'fix'."),
        (("build", "b: buidl"), "The task 'b' needs 'buidl', which is not in the plan. Did you mean `build`?"),
        (("a: a",), "The task 'a' needs itself."),
        (("a: b", "b: c", "c: ~a"), "Tasks wait for each other: a → b → c → a."),
        ((" ",), "' ' is no name for a task."),
        (("a\nb",), "'a\\nb' is no name for a task."),
    ],
)
def test_what_cannot_be_carried_out_is_refused(lines: tuple[str, ...], fact: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        plans.check(planned(*lines))
    assert str(refused.value).startswith(fact)


def test_a_chain_may_be_as_long_as_a_plan() -> None:
    lines = ["t0", *(f"t{n}: t{n - 1}" for n in range(1, 20_000))]
    assert len(plans.check(planned(*lines)).tasks) == 20_000


@given(st.dictionaries(st.integers(0, 12), st.frozensets(st.integers(0, 12), max_size=4), max_size=12))
def test_a_circle_is_found_if_and_only_if_there_is_one(numbers: dict[int, frozenset[int]]) -> None:
    edges = {str(one): [str(other) for other in others] for one, others in numbers.items()}
    circle = find_cycle(edges)
    if circle:
        assert circle[0] == circle[-1]
        assert all(after in edges[before] for before, after in pairwise(circle))
    else:
        left = dict(edges)
        while free := [one for one, others in left.items() if not any(other in left for other in others)]:
            left = {one: others for one, others in left.items() if one not in free}
        assert not left


async def test_a_new_plan_keeps_what_is_done_and_what_is_being_done(store: Store) -> None:
    made = await desk(store, "a", "b", "c: b", "d: c")
    await made.do("a")
    await made.claim("b", BOB)
    before = {name: (await made.task(name)).id for name in "abd"}
    laid = await made.plan("d", "b", "e: a b", "a")
    assert (laid.added, laid.kept, laid.removed) == (1, 3, 1)
    assert {name: (await made.task(name)).id for name in "abd"} == before
    assert await made.ready() == ["d"]
    assert (await made.task("a")).status == "completed"
    await made.complete("b", BOB)
    assert await made.ready() == ["d", "e"]


async def test_what_is_planned_as_it_was_keeps_its_fence_and_what_was_noted_and_the_rest_is_as_planned(
    store: Store,
) -> None:
    made = await desk(store, "a", "b: a", "c: a", "d: ~a")
    await made.claim("a")
    await made.fail("a")
    before = {name: await made.task(name) for name in "abcd"}
    await made.plan("a", "b: a", "c: d", "d: a")
    after = {name: await made.task(name) for name in "abcd"}
    assert after["b"] == before["b"]
    assert (after["a"].status, after["a"].fence, after["a"].error) == ("pending", 1, "it broke")
    await made.do("a")
    assert (await made.task("a")).fence == 2
    assert await made.ready() == ["b", "d"]
    await made.do("d")
    assert await made.ready() == ["b", "c"]


async def test_what_is_being_worked_on_cannot_be_planned_away(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.claim("a")
    with pytest.raises(PlanRefused, match="'a': being worked on"):
        await made.plan("b")


async def test_finished_tasks_can_be_needed_by_a_plan_that_no_longer_names_them(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.do("a")
    await made.plan("c: a")
    assert await made.ready() == ["c"]
    assert (await made.task("a")).status == "completed"


async def test_more_tasks_may_need_what_is_there_and_wake_a_board_that_was_over(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.do("a")
    await made.do("b")
    assert await made.status() == "completed"
    await made.add("c: a d", "d")
    assert await made.status() == "in_progress"
    assert await made.ready() == ["d"]
    with pytest.raises(PlanRefused, match="Two tasks are named 'D'"):
        await made.add("D")
    with pytest.raises(PlanRefused, match="needs 'x'"):
        await made.add("y: x")
    await made.do("d")
    assert await made.ready() == ["c"]


async def test_a_plan_of_which_everything_is_done_ends_the_board(store: Store) -> None:
    made = await desk(store, "a", "b")
    await made.do("a")
    await made.plan("a")
    assert await made.status() == "completed"


async def test_what_is_added_behind_a_failed_task_leaves_the_board_failed(store: Store) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    await made.fail("a")
    await made.add("b: a")
    assert await made.status() == "failed"
    await made.add("c")
    assert await made.status() == "in_progress"
