"""Who begins with a task is told the most relevant, in as many tokens as there are; what is cut is said."""

import json
from typing import Any

import pytest

from moot.board import checkpoints, context, laying, tasks
from moot.board.checkpoints import Note
from moot.board.context import Context, Include
from moot.board.plans import Plan
from moot.core.caller import SYSTEM
from moot.core.tx import ReadTx, Tx
from moot.store.store import Store
from tests.board.desk import ANN, Desk, desk, planned

LONG = "word " * 200  # some 330 tokens


async def noted(made: Desk, name: str, count: int, summary: str = "step") -> None:
    task = await made.task(name)

    def change(tx: Tx) -> None:
        for number in range(count):
            checkpoints.add(tx, task, Note("progress", f"{summary} {number + 1}", {}), ANN.agent)

    await made.store.write(change, caller=SYSTEM)


async def loaded(made: Desk, name: str, max_tokens: int = 8000, include: Include | None = None) -> Context:
    task = await made.task(name)

    def look(tx: ReadTx) -> Context:
        return context.load(tx, tasks.get(tx, task.id), include or Include(), max_tokens)

    return await made.store.read(look)


def numbers(found: Context) -> list[int]:
    noted: Any = found.current_task["checkpoints"]
    return [one["number"] for one in noted]


async def test_the_plan_is_told_in_the_shape_it_was_given(store: Store) -> None:
    made = await desk(store)
    plan = Plan("sum", "how", planned("a"), risks=("it rains",), assumptions=("it is dry",))
    await store.write(lambda tx: laying.set_plan(tx, made.board.id, plan), caller=SYSTEM)
    told = (await loaded(made, "a")).workflow
    assert [told[key] for key in ("summary", "approach", "risks", "assumptions")] == [
        "sum",
        "how",
        ["it rains"],
        ["it is dry"],
    ]


async def test_the_last_checkpoints_are_told_in_their_order_or_all_of_them(store: Store) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    await noted(made, "a", 60)
    found = await loaded(made, "a")
    assert (numbers(found), found.cut) == ([56, 57, 58, 59, 60], ())
    assert numbers(await loaded(made, "a", include=Include(all_checkpoints=True))) == list(range(1, 61))
    assert numbers(await loaded(made, "a", include=Include(recent_checkpoints=0))) == []


@pytest.mark.parametrize("max_tokens", [300, 1000, 4000])
async def test_it_stays_within_its_tokens_keeps_the_newest_and_says_what_is_left_out(
    store: Store, max_tokens: int
) -> None:
    made = await desk(store, "a")
    await made.claim("a")
    await noted(made, "a", 100, LONG)
    found = await loaded(made, "a", max_tokens, Include(all_checkpoints=True))
    kept = numbers(found)
    assert kept == list(range(101 - len(kept), 101))
    assert f"checkpoints: {100 - len(kept)} of 100" in found.cut
    assert found.tokens <= max_tokens
    told = json.dumps([found.workflow, found.current_task], default=dict)
    assert len(told) // 4 <= max_tokens + 100


async def test_what_it_needs_comes_before_what_others_came_to(store: Store) -> None:
    made = await desk(store, "a", "b", "c", "d: a ~b")
    for name in "cab":
        await made.do(name)
    found = await loaded(made, "d")
    needed: Any = found.dependency_outcomes
    assert [(one["name"], one["type"], one["outcome"]) for one in needed] == [
        ("a", "blocks", "a is done"),
        ("b", "informs", "b is done"),
    ]
    assert found.prior_tasks == [{"name": "c", "status": "completed", "outcome": "c is done"}]
    assert found.cut == ()


async def test_the_same_is_told_in_the_same_words(store: Store) -> None:
    made = await desk(store, "a", "b: a")
    await made.do("a")
    first, second = await loaded(made, "b"), await loaded(made, "b")
    assert first == second


async def test_of_a_long_plan_what_is_around_the_task_is_told(store: Store) -> None:
    made = await desk(store, *(f"t{n}" for n in range(200)))
    found = await loaded(made, "t100")
    planned = found.workflow["tasks"]
    assert isinstance(planned, list)
    assert [planned[0], planned[-1]] == [{"name": "t75", "status": "pending"}, {"name": "t125", "status": "pending"}]
    assert [one for one in found.cut if one.startswith("the plan: only what is around")]
