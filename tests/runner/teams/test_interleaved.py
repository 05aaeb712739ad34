"""Two transactions that meet over one team: each stage is left once, and nothing that was said meanwhile is lost."""

from pathlib import Path

from moot.board import laying
from moot.core.ids import BoardId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, NewJob
from moot.registry import runs
from moot.runner import handing_out, phases
from moot.runner.teams import advancing
from moot.store.postgres import PostgresStore
from moot.teams import reviews, teams
from moot.tools import teamwork
from tests.interleave import interleave
from tests.runner.teams.desk import Desk, answer, launched, planned, workflow


async def looking(desk: Desk) -> Job:
    """The job that takes the team further, in somebody's hands."""

    def take(tx: Tx) -> Job:
        teamwork.look(tx, desk.run.id, desk.run.stream)
        (job,) = [one for one in jobs.take(tx, Appetite(desk.host, others=100)) if one.kind == teamwork.LOOK]
        return job

    return await desk.house.write(take)


async def reviewing(store: PostgresStore, folder: Path) -> Desk:
    desk = await launched(store, folder)
    await desk.to_review()
    return desk


async def test_two_reviews_at_once_are_both_heard(pg_store: PostgresStore, tmp_path: Path) -> None:
    desk = await reviewing(pg_store, tmp_path)
    team = await desk.team()
    met = await interleave(
        pg_store,
        lambda tx: reviews.give(tx, team, "lead", "approved", ()),
        lambda tx: reviews.give(tx, team, "reviewer-1", "approved", ()),
    )
    assert (met.first, met.second, met.second_waited) == (True, True, True)
    for name in ("lead", "reviewer-1"):
        await desk.turn(name)
    assert (await desk.way()).count("comparing") == 1
    assert await desk.stage() == "done 1"


async def test_a_review_that_comes_while_the_team_is_looked_at_is_seen_by_the_next_look(
    pg_store: PostgresStore, tmp_path: Path
) -> None:
    desk = await reviewing(pg_store, tmp_path)
    team, job = await desk.team(), await looking(desk)
    await desk.house.write(lambda tx: reviews.give(tx, team, "lead", "approved", ()))
    met = await interleave(
        pg_store,
        lambda tx: advancing.advance(tx, job),
        lambda tx: reviews.give(tx, team, "reviewer-1", "approved", ()),
    )
    assert met.second_waited
    assert await desk.stage() == "reviewing 1"
    for name in ("lead", "reviewer-1"):
        await desk.turn(name)
    assert await desk.stage() == "done 1"


async def test_a_team_whose_run_is_ended_at_this_moment_comes_no_further(
    pg_store: PostgresStore, tmp_path: Path
) -> None:
    desk = await reviewing(pg_store, tmp_path)
    team, job = await desk.team(), await looking(desk)
    for name in ("lead", "reviewer-1"):
        await desk.house.write(lambda tx, name=name: reviews.give(tx, team, name, "approved", ()))
    met = await interleave(
        pg_store,
        lambda tx: phases.close(tx, desk.run.id, "stopped", "stopped"),
        lambda tx: advancing.advance(tx, job),
    )
    assert met.second_waited
    assert await desk.stage() == "reviewing 1"
    assert (await desk.house.read(lambda tx: runs.get(tx, desk.run.id))).state == "stopped"


async def test_of_two_who_take_a_team_further_one_does(pg_store: PostgresStore, tmp_path: Path) -> None:
    """As when a host that was taken for dead goes on beside the one that has its job."""
    desk = await reviewing(pg_store, tmp_path)
    team, job = await desk.team(), await looking(desk)
    for name in ("lead", "reviewer-1"):
        await desk.house.write(lambda tx, name=name: reviews.give(tx, team, name, "approved", ()))

    def late(tx: Tx) -> bool:
        return teams.move(tx, team, "comparing")

    met = await interleave(pg_store, lambda tx: advancing.advance(tx, job), late)
    assert (met.second, met.second_waited) == (False, True)
    assert (await desk.way()).count("comparing") == 1


async def test_what_is_added_while_tasks_are_handed_out_waits_for_its_approval(
    pg_store: PostgresStore, tmp_path: Path
) -> None:
    desk = await launched(pg_store, tmp_path, workflow(asks_for_plan=True))
    await desk.plans("a worker-1")
    await answer(desk, "approved")
    key = f"{handing_out.HAND_OUT}:{desk.run.id}"
    job = await desk.takes(NewJob(key, handing_out.HAND_OUT, desk.run.stream, desk.run.id))
    met = await interleave(
        pg_store,
        lambda tx: handing_out.hand_out(tx, job),
        lambda tx: laying.add_tasks(tx, BoardId(desk.run.id), planned("more worker-2")),
    )
    assert met.second_waited
    await desk.work()
    assert (await desk.task("more")).holder is None
    (asked,) = await desk.asked()
    assert "- more (worker-2): do more" in asked.body
