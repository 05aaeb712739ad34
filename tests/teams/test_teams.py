"""A team is a row that goes from stage to stage, each left once."""

from dataclasses import replace
from itertools import pairwise

import pytest

from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.teams import stages, teams
from moot.teams.errors import TeamNotFound, TeamRefused
from moot.teams.stages import Stage
from tests.interleave import interleave
from tests.teams.desk import MEMBERS, RUN, open_desk

WHOLE_WAY: tuple[Stage, ...] = ("delegating", "working", "reviewing", "comparing", "merging", "done")


async def test_a_team_has_the_name_of_its_instance_and_its_members_in_order(store: Store) -> None:
    desk = await open_desk(store)
    team = await desk.form("rate limits")
    assert (team.instance, team.goal, list(team.members)) == (desk.name, "rate limits", list(MEMBERS))
    assert (team.lead, team.reviewers, team.workers) == ("lead", ("reviewer-1",), ("worker-1", "worker-2"))
    assert (team.stage, team.round, team.run) == ("formed", 0, None)


async def test_a_team_that_is_formed_again_gets_another_shape_and_keeps_its_stage(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    await desk.go("delegating")
    new = replace(desk.new("another goal"), members={**MEMBERS, "worker-3": "worker"}, pushes=True)
    team = await desk.house.write(lambda tx: teams.form(tx, new))
    assert (team.goal, team.workers[-1], team.pushes, team.stage) == ("another goal", "worker-3", True, "delegating")


@pytest.mark.parametrize("missing", ["lead", "reviewer-1", "worker"])
async def test_a_team_without_one_of_its_parts_is_refused(store: Store, missing: str) -> None:
    desk = await open_desk(store)
    members = {name: part for name, part in MEMBERS.items() if not name.startswith(missing)}
    with pytest.raises(TeamRefused):
        await desk.house.write(lambda tx: teams.form(tx, replace(desk.new(), members=members)))


async def test_a_team_goes_its_way_and_every_stage_is_told(store: Store) -> None:
    desk = await open_desk(store)
    begun = await desk.begin()
    assert (begun.stage, begun.round, begun.run) == ("planning", 1, RUN)
    done = await desk.go(*WHOLE_WAY)
    assert (done.stage, done.round) == ("done", 1)
    way = ("formed", "planning", *WHOLE_WAY)
    assert await desk.told() == [f"{a}>{b}" for a, b in pairwise(way)]


async def test_work_that_is_given_out_again_is_another_round(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    team = await desk.go("delegating", "working", "reviewing", "comparing", "redelegating")
    assert team.round == 1
    assert (await desk.go("working")).round == 2


async def test_who_saw_the_team_in_an_earlier_stage_changes_nothing(store: Store) -> None:
    desk = await open_desk(store)
    before = await desk.begin()
    await desk.go("delegating")
    assert not await desk.house.write(lambda tx: teams.move(tx, before, "failed", "too late"))
    assert (await desk.team()).stage == "delegating"


async def test_who_saw_the_same_stage_of_an_earlier_round_changes_nothing(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    before = await desk.go("delegating", "working")
    await desk.go("reviewing", "comparing", "redelegating", "working")
    assert not await desk.house.write(lambda tx: teams.move(tx, before, "reviewing"))
    assert (await desk.team()).stage == "working"


async def test_a_way_that_is_not_drawn_does_not_exist(store: Store) -> None:
    desk = await open_desk(store)
    team = await desk.begin()
    with pytest.raises(AssertionError, match="from planning to merging"):
        await desk.house.write(lambda tx: teams.move(tx, team, "merging"))


async def test_a_team_that_has_failed_goes_on_where_it_was(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    failed = await desk.go("delegating", "working", "failed", reason="nobody knows how")
    assert (failed.left_in, failed.reason) == ("working", "nobody knows how")
    assert await desk.house.write(lambda tx: teams.go_on(tx, failed))
    team = await desk.team()
    assert (team.stage, team.left_in, team.reason, team.most_rounds) == ("working", None, "", teams.ROUNDS)
    assert not await desk.house.write(lambda tx: teams.go_on(tx, team))


async def test_a_team_whose_rounds_were_used_up_gets_one_more(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    failed = await desk.go("delegating", "working", "reviewing", "comparing", "failed", reason="3 rounds")
    await desk.house.write(lambda tx: teams.go_on(tx, failed))
    team = await desk.team()
    assert (team.stage, team.most_rounds) == ("comparing", teams.ROUNDS + 1)


async def test_another_goal_begins_with_planning_whatever_came_of_the_last(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    await desk.go("delegating", "failed", reason="no workers")
    team = await desk.begin()
    assert (team.stage, team.reason, team.left_in, team.round) == ("planning", "", None, 1)


async def test_a_team_that_is_gone_is_not_found(store: Store) -> None:
    desk = await open_desk(store)
    await desk.begin()
    await desk.house.write(lambda tx: teams.disband(tx, desk.house.instance.name))
    with pytest.raises(TeamNotFound):
        await desk.team()
    assert await desk.house.read(teams.all_of) == []


async def test_the_team_of_a_run_is_found(store: Store) -> None:
    desk = await open_desk(store)
    team = await desk.begin()
    assert await desk.house.read(lambda tx: teams.of_run(tx, RUN)) == team
    assert await desk.house.read(lambda tx: teams.of_run(tx, "wf_other")) is None


async def test_of_two_who_leave_a_stage_at_once_one_does(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    team = await desk.begin()
    met = await interleave(
        pg_store, lambda tx: teams.move(tx, team, "delegating"), lambda tx: teams.move(tx, team, "failed", "late")
    )
    assert met.second_waited
    assert (met.first, met.second) == (True, False)
    assert (await desk.team()).stage == "delegating"
    assert (await desk.told()).count("planning>delegating") == 1


def test_every_stage_leads_to_an_end() -> None:
    for stage in stages.LIVE:
        assert "failed" in stages.WAYS[stage]
    assert set(stages.WAYS) == {*stages.LIVE, "formed", "done", "failed"}
