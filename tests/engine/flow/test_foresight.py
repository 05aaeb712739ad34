"""What is foreseen of a flow is what would be computed of it step by step, and ends where that could differ."""

from datetime import timedelta

import pytest

from moot.core.records import replace
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import foresight
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from tests.engine.flow.standing import created

ADD = "{type: state_update, path: raw.count, operation: increment, value: 1}"
NESTED = f"""
steps:
  - {ADD}
  - type: sequential
    steps: [{ADD}, {{type: sequential, steps: [{ADD}]}}, {ADD}]
  - {{type: state_update, updates: [{{path: raw.count, value: 7}}, {{path: raw.more, value: [1]}}]}}
  - {ADD}
"""


async def begun(store: Store, sandbox: Sandbox, text: str) -> Live:
    """Behind its beginning, with nothing done."""
    live = await created(store, (("w.yaml", text),))
    return live.after(await next_of(sandbox, live))


async def next_of(sandbox: Sandbox, live: Live) -> Delta:
    change = await Driver(sandbox, 1).next(live)
    assert change is not None
    return change


async def foreseen(sandbox: Sandbox, live: Live) -> int:
    """How many changes behind the first; each is what is computed in its turn."""
    change = await next_of(sandbox, live)
    found = await foresight.following(Driver(sandbox, 1), live, change)
    for one in found:
        assert one.behind == change
        live = live.after(change)
        change = await next_of(sandbox, live)
        assert one.change == change
    return len(found)


async def test_what_is_foreseen_is_what_is_computed(sqlite_store: SqliteStore, sandbox: Sandbox) -> None:
    live = await begun(sqlite_store, sandbox, NESTED)
    assert await foreseen(sandbox, live) == 5  # each behind the first that changes the state; its end is not foreseen


async def test_it_looks_a_limited_way_ahead(sqlite_store: SqliteStore, sandbox: Sandbox) -> None:
    live = await begun(sqlite_store, sandbox, "steps: [" + ", ".join([ADD] * 1000) + "]")
    assert 10 < await foreseen(sandbox, live) < 100


@pytest.mark.parametrize(
    "step",
    [
        '{type: state_update, path: raw.count, value: "{{ count + 1 }}"}',
        "{type: user_message, message: hello}",
        "{type: agent_prompt, prompt: hello}",
        "{type: state_update, path: raw.count, operation: append, value: 1}",  # to a number: it fails
        "{type: exit}",
    ],
)
async def test_it_ends_before_what_depends_on_more_than_the_flow(
    sqlite_store: SqliteStore, sandbox: Sandbox, step: str
) -> None:
    live = await begun(sqlite_store, sandbox, f"steps: [{ADD}, {ADD}, {step}, {ADD}]")
    assert await foreseen(sandbox, live) == 1


async def test_who_goes_step_by_step_is_not_foreseen(sqlite_store: SqliteStore, sandbox: Sandbox) -> None:
    live = await begun(sqlite_store, sandbox, NESTED)
    assert await foreseen(sandbox, replace(live, flow=replace(live.flow, credits=3))) == 0


async def test_where_a_time_may_come_nothing_is_foreseen(sqlite_store: SqliteStore, sandbox: Sandbox) -> None:
    live = await begun(sqlite_store, sandbox, NESTED)
    other = replace(live.main, number=1, status="waiting", wakes_at=live.flow.started_at + timedelta(hours=1))
    beside = replace(live, strands={**live.strands, 1: other})
    assert await foreseen(sandbox, beside) == 0
