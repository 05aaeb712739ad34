"""Who of a team is here is said by moot itself, once each time that it changes, and wakes nobody."""

from moot.core.ids import HostId, TokenId
from moot.core.tx import Tx
from moot.registry import hosts, runs, stopping
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import attendance, succession
from tests.interleave import interleave
from tests.tools.desk import OPERATOR, open_desk
from tests.tools.team import TeamDesk, open_team

STARTED = ["online: reviewer-1", "online: worker-1", "online: worker-2"]


async def begin(team: TeamDesk) -> Run:
    """A run in which the team works."""

    def change(tx: Tx) -> Run:
        host = hosts.register(tx, NewHost("here", "1:1", ("run",)))
        run = runs.start(tx, team.desk.house.instance, NewRun("x", "x.yaml", "run", {}, {}, HostId(host)))
        attendance.settle(tx, team.team.instance)
        return run

    return await team.desk.house.write(change)


async def end(team: TeamDesk, run: Run) -> None:
    def change(tx: Tx) -> None:
        runs.end(tx, run, "done")
        attendance.settle(tx, team.team.instance)

    await team.desk.house.write(change)


async def statuses(team: TeamDesk) -> list[str]:
    """What moot has said of who is here."""
    entries = (await team.desk.done(OPERATOR, "channel_read", limit=1000))["entries"]
    said = [one["message"] for one in entries if (one["from"], one["kind"]) == ("system", "status")]
    return [one.partition(" (")[0] for one in said]


async def settle(team: TeamDesk) -> None:
    await team.desk.house.write(lambda tx: attendance.settle(tx, team.team.instance))


async def test_members_are_online_while_a_run_goes_on_and_offline_after_it(store: Store) -> None:
    team = await open_team(store)
    await settle(team)
    assert await statuses(team) == []
    run = await begin(team)
    assert await statuses(team) == STARTED
    assert (await team.desk.said())[0] == "system: online: reviewer-1 (reviewer, scripted)"
    await settle(team)
    assert len(await statuses(team)) == 3
    await end(team, run)
    assert (await statuses(team))[3:] == [one.replace("online", "offline") for one in STARTED]
    for agent in team.members.values():
        assert await team.desk.house.unread(agent) == []


async def test_who_was_stopped_is_offline_until_it_is_released(store: Store) -> None:
    team = await open_team(store)
    await begin(team)
    worker = team.members["worker-1"]
    await team.desk.house.write(lambda tx: stopping.stop(tx, worker))
    await settle(team)
    await team.desk.house.write(lambda tx: stopping.release(tx, worker))
    await settle(team)
    assert (await statuses(team))[3:] == ["offline: worker-1", "online: worker-1"]


async def test_an_approved_shutdown_makes_its_agent_offline_in_the_same_breath(store: Store) -> None:
    team = await open_team(store)
    await begin(team)
    asked = await team.desk.done(team["lead"], "request_create", to="worker-2", type="shutdown", title="enough")
    await team.desk.done(team["worker-2"], "request_respond", request_id=asked["id"], approve=True)
    assert (await statuses(team))[3:] == ["offline: worker-2"]


async def test_a_lead_from_outside_is_online_while_somebody_holds_its_token(store: Store) -> None:
    team = await open_team(store)
    token = await team.join("lead")
    assert await statuses(team) == ["online: lead"]
    again = await team.join("lead")
    await team.desk.house.write(lambda tx: succession.revoke(tx, TokenId(token)))
    assert await statuses(team) == ["online: lead"]
    await team.desk.house.write(lambda tx: succession.revoke(tx, TokenId(again)))
    assert await statuses(team) == ["online: lead", "offline: lead"]


async def test_a_heartbeat_says_nothing_and_is_no_mail(store: Store, clock: ManualClock) -> None:
    team = await open_team(store)
    await team.join("lead")
    before = len(await team.desk.said())
    clock.advance(40)
    beat = await team.desk.done(team["lead"], "agent_heartbeat", status="busy")
    assert beat["next_heartbeat_ms"] == 30000
    assert len(await team.desk.said()) == before
    assert [one.kind for one in await team.desk.house.events()].count("agent_updated") == 0
    found = await team.desk.done(OPERATOR, "agent_get", id="lead")
    assert found["status"] == "busy"


async def test_where_there_is_no_team_nothing_is_said(store: Store) -> None:
    desk = await open_desk(store)
    await desk.house.join("ann", "scripted")
    await desk.house.write(lambda tx: attendance.settle(tx, desk.house.instance.name))
    assert await desk.said() == []


async def test_two_who_notice_at_once_say_it_once(pg_store: PostgresStore) -> None:
    team = await open_team(pg_store)
    await begin(team)
    name, worker = team.team.instance, team.members["worker-1"]
    await team.desk.house.write(lambda tx: stopping.stop(tx, worker))
    met = await interleave(pg_store, lambda tx: attendance.settle(tx, name), lambda tx: attendance.settle(tx, name))
    assert met.second_waited
    assert (await statuses(team))[3:] == ["offline: worker-1"]
