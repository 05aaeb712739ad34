"""What comes of an approval: a shutdown stops, a mode set changes what an agent may do, and who decides that."""

import pytest

from moot.core.ids import RequestId
from moot.core.permissions import Preset
from moot.registry import agents, stopping
from moot.requests import requests
from moot.requests.errors import RequestClosed
from moot.requests.requests import Answerer
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import asking
from moot.tools.asking import Question, Reply
from tests.interleave import interleave
from tests.tools.desk import OPERATOR, Desk, member, open_desk
from tests.tools.team import EDIT, READ_ONLY, TeamDesk, open_team

FULL = {"edit": "allow", "shell": "allow", "network": "allow"}


async def is_stopped(team: TeamDesk, name: str) -> bool:
    agent = await team.desk.house.read(lambda tx: agents.get(tx, team.members[name].id))
    asked = await team.desk.house.read(lambda tx: stopping.asked(tx, agent.id, None))
    assert (asked == "stop") == (agent.stopped_at is not None)
    return agent.stopped_at is not None


async def kinds(desk: Desk) -> list[str]:
    return [one["kind"] for one in (await desk.done(OPERATOR, "channel_read", limit=1000))["entries"]]


async def test_an_approved_shutdown_stops_the_agent_and_a_denied_one_does_not(store: Store) -> None:
    team = await open_team(store)
    asked = await team.desk.done(team["lead"], "request_create", to="worker-1", type="shutdown", title="done for today")
    await team.desk.done(
        team["worker-1"], "request_respond", request_id=asked["id"], approve=False, answer="one test to go"
    )
    assert not await is_stopped(team, "worker-1")
    asked = await team.desk.done(team["lead"], "request_create", to="worker-1", type="shutdown", title="now?")
    await team.desk.done(team["worker-1"], "request_respond", request_id=asked["id"], approve=True)
    assert await is_stopped(team, "worker-1")
    assert await kinds(team.desk) == ["shutdown_request", "shutdown_rejected", "shutdown_request", "shutdown_approved"]
    assert [one.partition("]")[0] for one in await team.desk.house.unread(team.members["lead"])] == [
        f"queued [DENIED:{(await first(team)).id}",
        f"queued [APPROVED:{asked['id']}",
    ]


async def first(team: TeamDesk) -> requests.Request:
    return (await team.desk.house.read(lambda tx: requests.latest(tx, team.team.stream, 9)))[0]


async def test_an_agent_that_approves_its_shutdown_may_finish_what_it_is_at(store: Store) -> None:
    team = await open_team(store)
    trial = await team.desk.attempt(team.members["worker-1"])
    asked = await team.desk.done(team["lead"], "request_create", to="worker-1", type="shutdown", title="now?")
    answer = await trial.call("request_respond", request_id=asked["id"], approve=True)
    assert (answer.text.splitlines()[0], await is_stopped(team, "worker-1")) == ("approved", True)
    assert (await trial.call("channel_send", message="that was all")).text == "sent"


async def test_members_of_a_team_are_shut_down_by_the_lead_and_people_only(store: Store) -> None:
    team = await open_team(store)
    refused = await team.desk.refused(
        team["worker-2"], "request_create", to="worker-1", type="shutdown", title="you are in my way"
    )
    assert refused == "REQUEST_REFUSED"
    await team.desk.done(OPERATOR, "request_create", to="worker-1", type="shutdown", title="enough")
    assert await team.desk.refused(team["lead"], "request_create", to="human", type="shutdown", title="sleep") == (
        "REQUEST_REFUSED"
    )


async def test_an_approved_mode_counts_for_the_agent_that_took_it(store: Store) -> None:
    team = await open_team(store)
    asked = await team.desk.done(
        OPERATOR, "request_create", to="worker-1", type="mode_set", mode="read-only", title="look only"
    )
    assert asked["mode"] == "read-only"
    assert (await team.desk.house.unread(team.members["worker-1"]))[0].endswith("look only\n\nMode: read-only")
    assert await team.permissions("worker-1") == EDIT
    await team.desk.done(team["worker-1"], "request_respond", request_id=asked["id"], approve=True)
    assert await team.permissions("worker-1") == READ_ONLY
    assert await kinds(team.desk) == ["mode_set_request", "mode_set_response"]


async def test_who_asks_for_more_gets_it_from_a_person_or_from_the_lead_who_speaks_for_one(store: Store) -> None:
    team = await open_team(store)
    wanted = {"type": "mode_set", "mode": "full", "title": "I need the shell"}
    asked = await team.desk.done(team["worker-1"], "request_create", to="lead", **wanted)
    assert "expires_at" not in asked
    await team.desk.done(team["lead"], "request_respond", request_id=asked["id"], approve=True)
    assert await team.permissions("worker-1") == FULL
    asked = await team.desk.done(team["worker-2"], "request_create", to="human", **wanted)
    await team.desk.done(OPERATOR, "request_respond", request_id=asked["id"], approve=True)
    assert await team.permissions("worker-2") == FULL


async def test_a_lead_that_moot_starts_takes_rights_away_and_gives_none(store: Store) -> None:
    team = await open_team(store, "scripted")
    create = "request_create"
    for caller, to in (("worker-1", "lead"), ("lead", "worker-1")):
        refused = await team.desk.refused(team[caller], create, to=to, type="mode_set", mode="full", title="more")
        assert refused == "REQUEST_REFUSED"
    asked = await team.desk.done(team["lead"], create, to="worker-1", type="mode_set", mode="read-only", title="less")
    await team.desk.done(team["worker-1"], "request_respond", request_id=asked["id"], approve=True)
    assert await team.permissions("worker-1") == READ_ONLY


async def test_rights_that_were_narrowed_meanwhile_are_not_given_back_by_an_old_request(store: Store) -> None:
    team = await open_team(store, "scripted")
    create, respond = "request_create", "request_respond"
    old = await team.desk.done(team["lead"], create, to="worker-1", type="mode_set", mode="edit", title="as it is")
    less = await team.desk.done(OPERATOR, create, to="worker-1", type="mode_set", mode="read-only", title="less")
    await team.desk.done(team["worker-1"], respond, request_id=less["id"], approve=True)
    assert await team.desk.refused(team["worker-1"], respond, request_id=old["id"], approve=True) == "REQUEST_REFUSED"
    assert await team.permissions("worker-1") == READ_ONLY
    found = await team.desk.house.read(lambda tx: requests.get(tx, RequestId(old["id"])))
    assert found.is_open


@pytest.mark.parametrize(
    ("caller", "to", "mode"),
    [
        ("worker-1", "worker-2", "read-only"),  # peers decide nothing
        ("lead", "reviewer-1", "edit"),  # a reviewer changes nothing
        ("reviewer-1", "lead", "ask"),
        ("worker-1", "lead", None),
    ],
)
async def test_a_mode_that_nobody_may_set_is_refused(store: Store, caller: str, to: str, mode: str | None) -> None:
    team = await open_team(store)
    refused = await team.desk.refused(
        team[caller], "request_create", to=to, type="mode_set", title="set", **({"mode": mode} if mode else {})
    )
    assert refused == "REQUEST_REFUSED"


async def test_a_mode_belongs_to_a_mode_set_and_to_an_agent_that_moot_starts(store: Store) -> None:
    desk = await open_desk(store)
    await desk.house.join("ann")
    create = "request_create"
    assert await desk.refused(OPERATOR, create, to="ann", type="mode_set", mode="edit", title="set") == (
        "REQUEST_REFUSED"
    )
    assert await desk.refused(OPERATOR, create, to="ann", type="permission", mode="edit", title="set") == (
        "REQUEST_REFUSED"
    )
    assert await desk.refused(OPERATOR, create, to="ann", type="mode_set", mode="root", title="set") == "INVALID_INPUT"


async def test_in_an_ordinary_run_people_set_modes(store: Store) -> None:
    desk = await open_desk(store)
    coder = await desk.house.join("coder", "scripted")
    asked = await desk.done(OPERATOR, "request_create", to="coder", type="mode_set", mode="edit", title="go on")
    await desk.done(member(coder), "request_respond", request_id=asked["id"], approve=True)
    found = await desk.house.read(lambda tx: agents.get(tx, coder.id))
    assert found.settings["permissions"] == EDIT
    assert await desk.refused(
        member(coder), "request_create", to="coder2", type="mode_set", mode="edit", title="x"
    ) == ("AGENT_NOT_FOUND")


async def test_the_operator_answers_for_a_lead_from_outside_and_not_for_one_that_moot_starts(store: Store) -> None:
    team = await open_team(store)
    ask = {"to": "lead", "type": "plan_approval", "title": "the plan", "body": "1. tests"}
    asked = await team.desk.done(team["worker-1"], "request_create", **ask)
    assert (await team.desk.done(OPERATOR, "request_respond", request_id=asked["id"], approve=True))["answered_by"] == (
        "human"
    )
    assert await team.desk.refused(team["lead"], "request_respond", request_id=asked["id"], approve=False) == (
        "REQUEST_CLOSED"
    )


async def test_the_operator_does_not_answer_for_a_lead_that_moot_starts(store: Store) -> None:
    team = await open_team(store, "scripted")
    asked = await team.desk.done(team["worker-1"], "request_create", to="lead", type="plan_approval", title="the plan")
    assert "expires_at" in asked
    assert await team.desk.refused(OPERATOR, "request_respond", request_id=asked["id"], approve=True) == (
        "NOT_ADDRESSEE"
    )


async def test_of_two_who_answer_a_mode_set_at_once_one_wins_and_only_its_answer_counts(
    pg_store: PostgresStore,
) -> None:
    team = await open_team(pg_store)
    worker, lead = team.members["worker-1"], team.members["lead"]
    instance = team.desk.house.instance
    question = Question("lead", "mode_set", "I need the shell", mode="full")
    request = await team.desk.house.write(lambda tx: asking.ask(tx, instance, worker, question))
    human = await team.desk.house.write(lambda tx: agents.person(tx, instance))
    with pytest.raises(RequestClosed, match="was denied by lead"):
        await interleave(
            pg_store,
            lambda tx: asking.answer(tx, instance, request.id, Reply("denied"), Answerer(lead.name, lead.id)),
            lambda tx: asking.answer(tx, instance, request.id, Reply("approved"), Answerer("human", human.id, True)),
        )
    assert await team.permissions("worker-1") == EDIT
    assert len(await team.desk.house.unread(worker)) == 1


async def test_of_an_approval_and_a_withdrawal_at_once_one_wins(pg_store: PostgresStore) -> None:
    team = await open_team(pg_store)
    worker, lead = team.members["worker-1"], team.members["lead"]
    instance = team.desk.house.instance
    request = await team.desk.house.write(
        lambda tx: asking.ask(tx, instance, lead, Question("worker-1", "shutdown", "stop"))
    )
    with pytest.raises(RequestClosed, match="was cancelled"):
        await interleave(
            pg_store,
            lambda tx: asking.cancel(tx, instance, request.id, lead, is_operator=False),
            lambda tx: asking.answer(tx, instance, request.id, Reply("approved"), Answerer(worker.name, worker.id)),
        )
    assert not await is_stopped(team, "worker-1")


async def test_two_modes_approved_at_once_both_count_in_their_order(pg_store: PostgresStore) -> None:
    team = await open_team(pg_store)
    worker = team.members["worker-1"]
    instance = team.desk.house.instance
    human = await team.desk.house.write(lambda tx: agents.person(tx, instance))

    async def asked(title: str, mode: Preset) -> RequestId:
        question = Question("worker-1", "mode_set", title, mode=mode)
        return (await team.desk.house.write(lambda tx: asking.ask(tx, instance, human, question))).id

    less, more = await asked("less", "read-only"), await asked("more", "full")
    by = Answerer(worker.name, worker.id)
    met = await interleave(
        pg_store,
        lambda tx: asking.answer(tx, instance, less, Reply("approved"), by),
        lambda tx: asking.answer(tx, instance, more, Reply("approved"), by),
    )
    assert met.second_waited
    assert await team.permissions("worker-1") == FULL


async def test_what_expires_is_carried_out_by_nobody(store: Store, clock: ManualClock) -> None:
    team = await open_team(store)
    asked = await team.desk.done(
        OPERATOR, "request_create", to="worker-1", type="shutdown", title="stop", timeout_seconds=60
    )
    clock.advance(60)
    await team.desk.house.write(lambda tx: asking.expire(tx, RequestId(asked["id"])))
    assert await team.desk.refused(team["worker-1"], "request_respond", request_id=asked["id"], approve=True) == (
        "REQUEST_CLOSED"
    )
    assert not await is_stopped(team, "worker-1")
    assert await kinds(team.desk) == ["shutdown_request", "shutdown_rejected"]
