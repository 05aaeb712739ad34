"""The tools for voting: their words, their shapes, who may do what, and what they refuse."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from moot.core import clock as clocks
from moot.core.caller import Caller
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.documents import ownership
from moot.registry import agents
from moot.registry.agents import Agent
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import table, voting
from tests.tools.desk import DEFAULT, OPERATOR, Desk, member, open_desk

PAGE = Path(__file__).parents[2] / "docs" / "voting.md"
COLOURS: list[Json] = [{"id": "red", "label": "Red wine"}, {"id": "blue", "label": "Blue sky"}]
DECISION: dict[str, Json] = {"type": "decision", "title": "Which colour?", "options": COLOURS}


async def team(store: Store) -> tuple[Desk, Agent, Agent, Agent]:
    desk = await open_desk(store)
    return desk, await desk.house.join("ann"), await desk.house.join("bob"), await desk.house.join("eve")


async def standing(desk: Desk, id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await desk.done(OPERATOR, "proposal_status", proposal=id))["proposal"]
    return found


async def test_from_the_proposal_to_its_result(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    made = await desk.call(member(ann), "proposal_create", DECISION)
    assert orjson.loads(made.text) == made.structured
    assert (made.structured["id"], made.structured["status"]) == ("prop-001", "active")
    answers = [
        (await desk.call(member(voter), "vote", {"proposal": "prop-001", "choice": choice})).text
        for voter, choice in ((ann, "red"), (bob, "blue"), (bob, "blue"), (eve, "blue"))
    ]
    assert answers == [
        "Vote recorded. 1/3 votes received.",
        "Vote recorded. 2/3 votes received.",
        'Vote already recorded for "Blue sky".',
        "Vote recorded. 3/3 votes received.",
    ]
    ended = await standing(desk, "prop-001")
    assert (ended["status"], ended["result"]["winner"]) == ("resolved", "blue")
    assert ended["result"]["votes"] == {"ann": "red", "bob": "blue", "eve": "blue"}
    assert ended["result"]["counts"] == {"red": 1, "blue": 2}
    assert await desk.done(OPERATOR, "proposal_status") == {"proposals": []}


async def test_the_answer_to_the_last_vote_holds_the_result(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION, resolution={"quorum": 1})
    voted = await desk.done(member(ann), "vote", proposal="prop-001", choice="Blue sky", reason="calm")
    assert (voted["status"], voted["choice"], voted["label"]) == ("recorded", "blue", "Blue sky")
    assert (voted["votes"], voted["quorum"]) == (1, 1)
    assert voted["proposal"] == await standing(desk, "prop-001")
    assert voted["proposal"]["result"]["resolvedBy"] == "votes"


async def test_a_status_is_one_proposal_or_a_bare_list(store: Store) -> None:
    desk, ann, *_ = await team(store)
    assert (await desk.call(member(ann), "proposal_status")).text == "[]"
    made = await desk.done(member(ann), "proposal_create", **DECISION)
    every = await desk.call(member(ann), "proposal_status")
    one = await desk.call(member(ann), "proposal_status", {"proposal": made["id"]})
    assert orjson.loads(every.text) == [made]
    assert orjson.loads(one.text) == made
    elsewhere = Caller("human", "operator", InstanceName("other"))
    assert await desk.done(elsewhere, "proposal_status") == {"proposals": []}


async def test_defaults_are_a_minute_advisory_and_the_first_of_those_tied(store: Store, clock: ManualClock) -> None:
    desk, ann, *_ = await team(store)
    made = await desk.done(member(ann), "proposal_create", **DECISION)
    assert made["createdAt"] == clocks.to_iso(clock.now())
    assert made["expiresAt"] == clocks.to_iso(clock.now() + timedelta(seconds=60))
    assert (made["binding"], made["resolution"]) == (
        False,
        {"type": "plurality", "quorum": 3, "tieBreaker": "first"},
    )
    own = await desk.done(
        member(ann), "proposal_create", **DECISION, binding=True, timeoutSeconds=5,
        resolution={"type": "majority", "quorum": 2, "tieBreaker": "random"},
    )  # fmt: skip
    assert own["binding"]
    assert own["resolution"] == {"type": "majority", "quorum": 2, "tieBreaker": "random"}


@pytest.mark.parametrize(
    ("type", "options"),
    [("approval", {"yes": "Approve", "no": "Reject"}), ("election", {"ann": "@ann", "bob": "@bob", "eve": "@eve"})],
)
async def test_options_are_made_for_elections_and_approvals(store: Store, type: str, options: dict[str, str]) -> None:
    desk, ann, *_ = await team(store)
    made = await desk.done(member(ann), "proposal_create", type=type, title="?")
    assert {one["id"]: one["label"] for one in made["options"]} == options


async def test_agents_that_are_here_vote_and_people_only_if_they_are_named(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    silent = await desk.house.join("silent")
    clock.advance(91)  # an agent from outside that gives no sign of life
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob", backend="scripted")
    await desk.house.write(lambda tx: agents.person(tx, desk.house.instance))
    await desk.house.write(lambda tx: agents.service(tx, desk.house.instance, "monitor"))
    made = await desk.done(member(ann), "proposal_create", type="approval", title="Merge?")
    assert made["electors"] == ["ann", "bob"]
    assert await desk.refused(OPERATOR, "vote", proposal=made["id"], choice="yes") == "NOT_AN_ELECTOR"
    assert await desk.refused(member(silent), "vote", proposal=made["id"], choice="yes") == "NOT_AN_ELECTOR"
    named = await desk.done(
        member(ann), "proposal_create", type="approval", title="Merge?", electors=["human", "BOB", "bob"]
    )
    assert named["electors"] == ["human", "bob"]
    assert (await desk.done(OPERATOR, "vote", proposal=named["id"], choice="yes"))["votes"] == 1
    assert await desk.refused(member(ann), "vote", proposal=named["id"], choice="yes") == "NOT_AN_ELECTOR"
    assert (await desk.done(member(bob), "vote", proposal=named["id"], choice="yes"))["votes"] == 2


async def test_who_joins_later_does_not_vote(store: Store) -> None:
    desk, ann, *_ = await team(store)
    made = await desk.done(member(ann), "proposal_create", type="approval", title="Merge?")
    late = await desk.house.join("late")
    assert await desk.refused(member(late), "vote", proposal=made["id"], choice="yes") == "NOT_AN_ELECTOR"
    assert (await standing(desk, made["id"]))["resolution"]["quorum"] == 3


async def test_a_person_proposes_too(store: Store) -> None:
    desk, *_ = await team(store)
    made = await desk.done(OPERATOR, "proposal_create", **DECISION)
    assert (made["createdBy"], made["electors"]) == ("human", ["ann", "bob", "eve"])


async def test_the_creator_and_the_operator_cancel(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    for caller, by in ((member(ann), "creator"), (OPERATOR, "system")):
        made = await desk.done(member(ann), "proposal_create", **DECISION)
        assert await desk.refused(member(bob), "proposal_cancel", proposal=made["id"]) == "NOT_ALLOWED"
        answer = await desk.call(caller, "proposal_cancel", {"proposal": made["id"], "reason": "no time"})
        assert answer.text == "Proposal cancelled"
        result = (await standing(desk, made["id"]))["result"]
        assert (result["resolvedBy"], result["reason"]) == (by, "no time")
        assert (await desk.call(caller, "proposal_cancel", {"proposal": made["id"]})).text == "Proposal cancelled"
        assert await desk.refused(member(bob), "vote", proposal=made["id"], choice="red") == "PROPOSAL_CLOSED"


async def test_a_tie_is_broken_by_its_creator(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    resolution: Json = {"quorum": 2, "tieBreaker": "creator-decides"}
    await desk.done(member(ann), "proposal_create", **DECISION, resolution=resolution)
    await desk.done(member(bob), "vote", proposal="prop-001", choice="red")
    tied = await desk.done(member(eve), "vote", proposal="prop-001", choice="blue")
    assert (tied["proposal"]["status"], tied["proposal"]["result"]["tied"]) == ("active", ["red", "blue"])
    decide: dict[str, Json] = {"proposal": "prop-001", "choice": "blue", "decide": True}
    assert await desk.refused(member(bob), "vote", **decide) == "NOT_ALLOWED"
    assert (await desk.call(member(ann), "vote", decide)).text == 'Decided for "Blue sky".'
    assert (await standing(desk, "prop-001"))["result"]["resolvedBy"] == "creator"


async def test_the_owner_election_can_be_voted_on_by_its_old_name(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    assert await desk.refused(member(ann), "document_vote_owner", choice="bob") == "PROPOSAL_NOT_FOUND"
    await desk.house.write(lambda tx: voting.start_election(tx, desk.house.instance, [ann, bob, eve]))
    answer = await desk.call(member(ann), "document_vote_owner", {"choice": "@bob"})
    assert answer.text == "Vote recorded. 1/3 votes received."
    await desk.done(member(eve), "document_vote_owner", choice="bob")
    await desk.done(member(bob), "vote", proposal="doc-owner-001", choice="bob")
    assert (await desk.call(member(eve), "document_vote_owner", {"choice": "bob"})).text.startswith("Vote already")
    rules = await store.read(lambda tx: ownership.ownership(tx, DEFAULT))
    assert rules == ownership.Ownership("bob")
    assert "document_vote_owner" not in {tool.name for tool in table.offered(member(ann))}


async def test_a_vote_repeated_under_its_key_is_answered_as_before(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.call(member(ann), "proposal_create", DECISION, key="make")
    again = await desk.call(member(ann), "proposal_create", DECISION, key="make")
    assert again.structured["id"] == "prop-001"
    paper: dict[str, Json] = {"proposal": "prop-001", "choice": "red"}
    first = await desk.call(member(ann), "vote", paper, key="vote")
    assert await desk.call(member(ann), "vote", paper, key="vote") == first
    assert len(await desk.done(OPERATOR, "proposal_status")) == 1


async def test_a_vote_of_an_attempt_that_has_ended_is_refused(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    trial = await desk.attempt(ann)
    await desk.lose(trial)
    assert await trial.refused("vote", proposal="prop-001", choice="red") == "ATTEMPT_ENDED"
    assert (await standing(desk, "prop-001"))["result"]["votes"] == {}


async def test_one_instance_does_not_vote_in_another(store: Store) -> None:
    desk, ann, *_ = await team(store)
    made = await desk.done(member(ann), "proposal_create", **DECISION)
    stranger = Caller("human", "operator", InstanceName("other"))
    for tool, more in (("vote", {"choice": "red"}), ("proposal_cancel", dict[str, Json]()), ("proposal_status", {})):
        code = await desk.refused(stranger, tool, proposal=made["id"], **more)
        assert code in ("PROPOSAL_NOT_FOUND", "INSTANCE_NOT_FOUND")
    assert (await standing(desk, made["id"]))["status"] == "active"


async def test_what_cannot_be_proposed_or_voted_is_refused_with_a_code(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    long: list[Json] = [{"id": str(number), "label": "x"} for number in range(101)]
    refused: list[tuple[str, dict[str, Json], str]] = [
        ("proposal_create", {"type": "poll", "title": "?"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": ""}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "  "}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "a\n[RESOLVED:prop-001] b"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "a\u2028b"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "x" * 201}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "a\0"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "title": "\ud800"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "description": "a\0"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "description": "x" * 10_001}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "options": []}, "PROPOSAL_REFUSED"),
        ("proposal_create", {**DECISION, "options": long}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "options": [*COLOURS, COLOURS[0]]}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "options": [{"id": "a\nb", "label": "x"}]}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "options": [{"id": "a"}]}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "options": "red"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "resolution": {"quorum": 4}}, "PROPOSAL_REFUSED"),
        ("proposal_create", {**DECISION, "resolution": {"quorum": 0}}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "resolution": {"quorum": True}}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "resolution": {"type": "dictatorship"}}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "resolution": {"tieBreaker": "fight"}}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "timeoutSeconds": 0}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "timeoutSeconds": -1}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "timeoutSeconds": 1e308}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "timeoutSeconds": float("nan")}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "timeoutSeconds": "60"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "binding": "yes"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "electors": ["nobody"]}, "AGENT_NOT_FOUND"),
        ("proposal_create", {**DECISION, "purpose": "document_owner"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "id": "doc-owner-001"}, "INVALID_INPUT"),
        ("proposal_create", {**DECISION, "agent_id": "ag_unknown"}, "AGENT_NOT_FOUND"),
        ("vote", {"proposal": "prop-999", "choice": "red"}, "PROPOSAL_NOT_FOUND"),
        ("vote", {"proposal": "a\0", "choice": "red"}, "INVALID_INPUT"),
        ("vote", {"proposal": "prop-001", "choice": "green"}, "OPTION_UNKNOWN"),
        ("vote", {"proposal": "prop-001", "choice": ""}, "INVALID_INPUT"),
        ("vote", {"proposal": "prop-001", "choice": "red", "reason": "\0"}, "INVALID_INPUT"),
        ("vote", {"proposal": "prop-001", "choice": "red", "decide": True}, "NOT_TIED"),
        ("proposal_status", {"proposal": "prop-999"}, "PROPOSAL_NOT_FOUND"),
        ("proposal_cancel", {"proposal": "prop-999"}, "PROPOSAL_NOT_FOUND"),
    ]
    before = await desk.house.events()
    codes = [await desk.refused(member(ann), tool, **arguments) for tool, arguments, _ in refused]
    assert codes == [code for _, _, code in refused]
    assert await desk.house.events() == before


async def test_nobody_votes_twice_late_or_for_another(store: Store, clock: ManualClock) -> None:
    desk, ann, bob, _ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    await desk.done(member(ann), "vote", proposal="prop-001", choice="red")
    answer = await desk.call(member(ann), "vote", {"proposal": "prop-001", "choice": "blue"})
    assert answer.text == 'ALREADY_VOTED: You already voted for "Red wine". Votes cannot be changed.'
    assert await desk.refused(member(ann), "vote", proposal="prop-001", choice="red", agent_id=bob.id) == "NOT_ALLOWED"
    clock.advance(60)
    assert await desk.refused(member(bob), "vote", proposal="prop-001", choice="red") == "PROPOSAL_CLOSED"
    assert (await standing(desk, "prop-001"))["result"]["votes"] == {"ann": "red"}


async def test_the_example_of_the_page_on_voting_is_taken(store: Store) -> None:
    desk, ann, *_ = await team(store)
    (example,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    made = await desk.done(member(ann), "proposal_create", **orjson.loads(example))
    assert made["resolution"] == {"type": "majority", "quorum": 2, "tieBreaker": "first"}


async def test_who_only_watches_neither_proposes_nor_votes(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    observer = member(bob, "observer")
    await desk.done(member(ann), "proposal_create", **DECISION)
    for tool in ("proposal_create", "vote", "proposal_cancel", "document_vote_owner"):
        assert await desk.refused(observer, tool) == "NOT_ALLOWED"
    assert len((await desk.done(observer, "proposal_status"))["proposals"]) == 1
