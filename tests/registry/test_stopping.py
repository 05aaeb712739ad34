"""A stopped agent is offline until it is released."""

from typing import Literal

import pytest

from moot.core.caller import Caller
from moot.core.ids import HostId, JobId, RunId
from moot.core.tx import Tx
from moot.registry import agents, attempts, runs, stopping
from moot.registry.attempts import NewAttempt
from moot.registry.hosts import How
from moot.registry.runs import NewRun, State
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.registry.house import build


async def test_an_agent_is_stopped_and_released_once(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")
    assert await house.write(lambda tx: [stopping.stop(tx, ann), stopping.stop(tx, ann)]) == [True, False]
    stopped = await house.read(lambda tx: agents.get(tx, ann.id))
    assert (stopped.stopped_at, stopped.presence(clock.now())) == (clock.now(), "offline")
    assert await house.write(lambda tx: [stopping.release(tx, ann), stopping.release(tx, ann)]) == [True, False]
    assert (await house.read(lambda tx: agents.get(tx, ann.id))).stopped_at is None
    told = [event.kind for event in await house.events() if event.subject == ann.id]
    assert told == ["agent_registered", "agent_stopped", "agent_released"]


async def test_who_has_left_is_neither_stopped_nor_released(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")
    await house.write(lambda tx: agents.unregister(tx, ann.id))
    assert await house.write(lambda tx: [stopping.stop(tx, ann), stopping.release(tx, ann)]) == [False, False]


@pytest.mark.parametrize(
    ("is_stopped", "how", "state", "wanted"),
    [
        (False, None, "live", None),
        (True, None, "live", "stop"),
        (False, "safely", "live", "stop"),
        (True, "safely", "interrupted", "shutdown"),
        (False, None, "limit", "shutdown"),
    ],
)
async def test_who_is_stopped_is_to_end_and_who_works_for_a_run_that_is_over_is_to_leave_off(
    store: Store, is_stopped: bool, how: How | None, state: State, wanted: Literal["stop", "shutdown"] | None
) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")

    def change(tx: Tx) -> list[Literal["stop", "shutdown"] | None]:
        run = runs.start(tx, house.instance, NewRun("r", "r.yaml", "run", {}, {}, HostId("nobody")))
        if is_stopped:
            stopping.stop(tx, ann)
        alone = stopping.asked(tx, ann.id, None)
        if how is not None:
            runs.ask_stop(tx, run, how)
        if state != "live":
            runs.end(tx, run, state)
        in_run, outside = (start(tx, one) for one in (run.id, None))
        return [
            stopping.asked(tx, ann.id, run.id),
            attempts.asked(tx, in_run),
            alone,
            attempts.asked(tx, outside),
        ]

    def start(tx: Tx, run: RunId | None) -> Caller:
        attempt = attempts.start(tx, NewAttempt(ann.id, ann.stream, JobId("jb_1"), 1, 1, HostId("ho_1"), run))
        return Caller("ann", "member", house.instance.name, ann.id, attempt=attempt, fence=1)

    by_itself = "stop" if is_stopped else None
    assert await house.write(change) == [wanted, wanted, by_itself, by_itself]
