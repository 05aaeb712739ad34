"""Runs follow one another under an instance's name, one at a time, and are taken on by who finds them left."""

from collections.abc import Callable

import pytest

from moot.core.ids import HostId, RunId
from moot.core.tx import Tx
from moot.registry import hosts, runs
from moot.registry.hosts import NewHost
from moot.registry.runs import InstanceBusy, NewRun, Run, RunNotFound
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import House, build


async def a_host(house: House) -> HostId:
    return await house.write(lambda tx: hosts.register(tx, NewHost("here", "1", ("run",))))


def a_start(house: House, host: HostId, name: str = "review") -> Callable[[Tx], Run]:
    new = NewRun(name, f"{name}.yaml", "run", {"kickoff": "hi"}, {"issue": 42}, host)
    return lambda tx: runs.start(tx, house.instance, new)


async def started(house: House, host: HostId, name: str = "review") -> Run:
    return await house.write(a_start(house, host, name))


async def now(house: House, run: Run) -> Run:
    return await house.read(lambda tx: runs.get(tx, run.id))


async def test_a_run_begins_with_setup_at_a_place_in_the_stream(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    host = await a_host(house)
    run = await started(house, host)
    assert run == Run(
        id=run.id, instance=house.instance.name, stream=house.stream, name="review", source="review.yaml", mode="run",
        state="live", phase="setup", definition={"kickoff": "hi"}, given={"issue": 42}, outputs=(),
        attended_by=host, stop_asked=None, is_paused=False, first_seq=1, last_seq=None, reason="",
        started_at=clock.now(), ended_at=None,
    )  # fmt: skip
    assert await house.read(lambda tx: runs.live(tx, house.instance.name)) == run
    assert await house.read(runs.all_live) == [run]
    assert run.id.startswith("wf_")


async def test_the_last_run_of_an_instance_is_unfinished_or_an_answered_question(store: Store) -> None:
    house = await build(store)
    host = await a_host(house)
    question = NewRun("ann", "/x/ann.md", "run", {}, {}, host)
    first = await house.write(lambda tx: runs.start(tx, house.instance, question))
    assert await house.read(runs.unfinished) == [first]
    assert await house.read(runs.answered) == frozenset()
    await house.write(lambda tx: runs.end(tx, first, "done"))
    assert await house.read(runs.unfinished) == []
    assert await house.read(runs.answered) == {house.instance.name}
    second = await started(house, host)
    await house.write(lambda tx: runs.end(tx, second, "failed"))
    assert [one.id for one in await house.read(runs.unfinished)] == [second.id]
    assert await house.read(runs.answered) == frozenset()


async def test_an_instance_has_one_run_at_a_time(store: Store) -> None:
    house = await build(store)
    host = await a_host(house)
    first = await started(house, host)
    with pytest.raises(InstanceBusy, match="A run of review is going on"):
        await started(house, host, "other")
    await house.write(lambda tx: runs.end(tx, first, "done"))
    second = await started(house, host, "other")
    assert (await now(house, first)).last_seq == 2
    assert second.first_seq == 3
    assert await house.read(lambda tx: runs.latest(tx, house.instance.name)) == second


async def test_of_two_who_start_a_run_at_once_one_is_refused(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    host = await a_host(house)
    met = await interleave(pg_store, a_start(house, host), _refused(house, host))
    assert met.second_waited
    assert met.second == "INSTANCE_BUSY"


def _refused(house: House, host: HostId) -> Callable[[Tx], str]:
    def change(tx: Tx) -> str:
        try:
            return a_start(house, host)(tx).id
        except InstanceBusy as error:
            return error.code

    return change


async def test_a_run_that_nobody_attends_any_more_makes_room_for_another(store: Store) -> None:
    house = await build(store)
    gone, here = await a_host(house), await a_host(house)
    first = await started(house, gone)
    await house.write(lambda tx: hosts.stop(tx, gone))
    second = await started(house, here)
    found = await now(house, first)
    assert (found.state, found.reason) == ("stopped", "another run was started")
    assert (second.state, second.attended_by) == ("live", here)


async def test_a_phase_is_entered_once(store: Store) -> None:
    house = await build(store)
    run = await started(house, await a_host(house))
    assert await house.write(lambda tx: [runs.enter(tx, run, "talk"), runs.enter(tx, run, "talk")]) == [True, False]
    assert (await now(house, run)).phase == "talk"


async def test_no_phase_is_entered_again_from_a_later_one(store: Store) -> None:
    house = await build(store)
    run = await started(house, await a_host(house))
    assert await house.write(lambda tx: runs.enter(tx, run, "steps"))
    late = await now(house, run)
    assert not await house.write(lambda tx: runs.enter(tx, late, "tasks"))
    assert (await now(house, run)).phase == "steps"


async def test_a_run_that_is_over_enters_nothing(store: Store) -> None:
    house = await build(store)
    run = await started(house, await a_host(house))
    assert await house.write(lambda tx: runs.end(tx, run, "failed", "setup failed"))
    assert not await house.write(lambda tx: runs.enter(tx, run, "talk"))
    assert not await house.write(lambda tx: runs.end(tx, run, "done"))
    found = await now(house, run)
    assert (found.state, found.reason, found.phase) == ("failed", "setup failed", "setup")


async def test_what_setup_found_out_is_kept(store: Store) -> None:
    house = await build(store)
    run = await started(house, await a_host(house))
    await house.write(lambda tx: runs.keep(tx, run, ["+1"]))
    assert (await now(house, run)).outputs == ("+1",)


@pytest.mark.parametrize("state", ["interrupted", "limit", "failed", "stopped"])
async def test_an_interrupted_run_goes_on_where_it_was(store: Store, state: runs.State) -> None:
    house = await build(store)
    host = await a_host(house)
    run = await started(house, host)
    await house.write(lambda tx: (runs.enter(tx, run, "talk"), runs.end(tx, run, state, "ctrl-c")))
    resumed = await house.write(lambda tx: runs.resume(tx, house.instance.name, host))
    assert (resumed.id, resumed.phase, resumed.state, resumed.reason) == (run.id, "talk", "live", "")
    with pytest.raises(InstanceBusy):
        await house.write(lambda tx: runs.resume(tx, house.instance.name, host))


async def test_a_run_whose_host_was_lost_can_be_resumed_by_another(store: Store) -> None:
    house = await build(store)
    gone, here = await a_host(house), await a_host(house)
    run = await started(house, gone)
    await house.write(lambda tx: hosts.stop(tx, gone))
    resumed = await house.write(lambda tx: runs.resume(tx, house.instance.name, here))
    assert (resumed.id, resumed.attended_by) == (run.id, here)


async def test_there_must_be_something_to_resume(store: Store) -> None:
    house = await build(store)
    host = await a_host(house)
    for _ in range(2):
        with pytest.raises(RunNotFound, match="nothing to resume in"):
            await house.write(lambda tx: runs.resume(tx, house.instance.name, host))
        run = await started(house, host)
        await house.write(lambda tx, run=run: runs.end(tx, run, "done"))


async def test_asking_for_the_end_and_for_a_pause_is_kept_until_the_run_is_resumed(store: Store) -> None:
    house = await build(store)
    host = await a_host(house)
    run = await started(house, host)
    assert await house.write(lambda tx: [runs.pause(tx, run, is_paused=True) for _ in range(2)]) == [True, False]
    await house.write(lambda tx: runs.ask_stop(tx, run, "now"))
    found = await now(house, run)
    assert (found.is_paused, found.stop_asked) == (True, "now")
    await house.write(lambda tx: runs.end(tx, run, "interrupted"))
    resumed = await house.write(lambda tx: runs.resume(tx, house.instance.name, host))
    assert (resumed.is_paused, resumed.stop_asked) == (False, None)


async def test_an_unknown_run_is_named(store: Store) -> None:
    house = await build(store)
    with pytest.raises(RunNotFound, match="wf_nothing"):
        await house.read(lambda tx: runs.get(tx, RunId("wf_nothing")))
