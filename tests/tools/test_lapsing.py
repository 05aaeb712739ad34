"""A claim that nobody keeps alive is given back by a timer, for those who only wait to hear of it."""

from moot.board.claims import LEASE, RELEASED
from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import lapsing
from tests.tools.desk import OPERATOR, open_desk
from tests.tools.test_tasks import agent, planned

SECONDS = LEASE.total_seconds()


async def look(store: Store) -> int:
    """As a host does: how many timers were due."""

    def change(tx: Tx) -> int:
        due = jobs.take(tx, Appetite(HostId("ho_1"), others=10))
        for job in due:
            lapsing.give_back(tx, job)
        return len(due)

    return await store.write(change, caller=SYSTEM)


async def test_what_has_run_out_is_given_back_and_what_is_kept_alive_is_not(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    silent, lively = await agent(desk, "silent"), await agent(desk, "lively")
    _, ids = await planned(desk, "one", "two")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=silent)
    await desk.done(OPERATOR, "task_claim", task_id=ids["two"], agent_id=lively)
    assert await look(store) == 0
    clock.advance(SECONDS - 1)
    await desk.done(OPERATOR, "agent_heartbeat", agent_id=lively)
    clock.advance(1)
    assert await look(store) == 1
    states = {name: (await desk.done(OPERATOR, "task_get", id=id))["status"] for name, id in ids.items()}
    assert states == {"one": "pending", "two": "planning"}
    released = [event for event in await desk.house.events() if event.kind == RELEASED]
    assert [event.subject for event in released] == [ids["one"]]
    assert await look(store) == 0
    clock.advance(SECONDS)
    assert await look(store) == 1
    assert (await desk.done(OPERATOR, "task_get", id=ids["two"]))["status"] == "pending"
    clock.advance(SECONDS)
    assert await look(store) == 0


async def test_what_is_held_without_a_lease_needs_no_timer(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    _, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"])
    clock.advance(10 * SECONDS)
    assert await look(store) == 0
    assert (await desk.done(OPERATOR, "task_get", id=ids["one"]))["status"] == "planning"
