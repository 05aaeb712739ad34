"""Whom a run waits for, seen in one snapshot."""

from moot.bus import mailbox
from moot.core.ids import HostId
from moot.core.tx import Tx
from moot.registry import hosts, runs
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.runner import lookout
from moot.store.store import Store
from tests.tools.team import TeamDesk, open_team


async def begin(team: TeamDesk) -> Run:
    def change(tx: Tx) -> Run:
        host = HostId(hosts.register(tx, NewHost("here", "1:1", ("run",))))
        return runs.start(tx, team.desk.house.instance, NewRun("x", "x.yaml", "run", {}, {}, host))

    return await team.desk.house.write(change)


async def awaited(team: TeamDesk, run: Run) -> list[str]:
    return [one.name for one in (await team.desk.house.read(lambda tx: lookout.look(tx, run.id))).awaited]


async def test_a_lead_from_outside_is_waited_for_until_it_has_answered_though_it_has_read_its_mail(
    store: Store,
) -> None:
    team = await open_team(store)
    run = await begin(team)
    asked = await team.desk.done(team["worker-1"], "request_create", to="lead", type="permission", title="may I?")
    lead = team.members["lead"]
    (mail,) = await team.desk.house.read(lambda tx: mailbox.unread(tx, lead.id, 9))
    await team.desk.house.write(lambda tx: mailbox.ack_one(tx, lead.id, mail.seq))
    assert await awaited(team, run) == ["lead"]
    await team.desk.done(team["lead"], "request_respond", request_id=asked["id"], approve=True)
    assert await awaited(team, run) == []


async def test_a_lead_that_moot_starts_holds_up_a_run_by_itself(store: Store) -> None:
    team = await open_team(store, "scripted")
    run = await begin(team)
    await team.desk.done(team["worker-1"], "request_create", to="lead", type="plan_approval", title="the plan")
    assert await awaited(team, run) == []
