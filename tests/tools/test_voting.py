"""What the channel hears of a vote, whom it wakes, and what the end of it brings about."""

import pytest

from moot.bus import messages
from moot.bus.messages import Message
from moot.core.ids import ProposalId
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.documents import ownership
from moot.documents.ownership import Ownership
from moot.jobs import jobs
from moot.proposals.proposals import Proposal
from moot.registry.agents import Agent
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import voting
from tests.tools.desk import DEFAULT, OPERATOR, Desk, member, open_desk
from tests.tools.test_proposals import DECISION, team

ID = ProposalId("prop-001")


async def channel(desk: Desk) -> list[Message]:
    return await desk.house.read(lambda tx: messages.latest(tx, desk.house.stream, 100))


async def expire(desk: Desk, id: str = ID) -> Proposal | None:
    return await desk.house.write(lambda tx: voting.expire(tx, ProposalId(id)))


async def timers(desk: Desk) -> list[str]:
    return [job.key for job in await desk.house.read(lambda tx: jobs.live(tx, desk.house.stream))]


async def test_the_question_goes_to_all_who_may_vote_and_says_how(store: Store, clock: ManualClock) -> None:
    desk, ann, bob, eve = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION, description="For the wall.\nAnd the door.")
    (asked,) = await channel(desk)
    assert (asked.sender, asked.kind, asked.mentions) == ("system", "question", ("ann", "bob", "eve"))
    assert asked.body.splitlines() == [
        "[PROPOSAL:prop-001] Which colour?",
        "> For the wall.",
        "> And the door.",
        "Type: decision | Resolution: plurality | Until: 09:01:00 UTC",
        "Options: red = Red wine, blue = Blue sky",
        "Vote with: vote({ proposal: 'prop-001', choice: '<option-id>' })",
    ]
    assert [len(await desk.house.unread(one)) for one in (ann, bob, eve)] == [1, 1, 1]


async def test_a_vote_is_said_by_its_voter_and_acknowledges_the_question(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    await desk.done(member(bob), "vote", proposal=ID, choice="red", reason="it is\nwarm")
    asked, said = await channel(desk)
    assert (said.sender, said.body) == ("bob", '[VOTE:prop-001] I vote for "Red wine" (it is warm)')
    assert (said.reply_to, said.mentions) == (asked.id, ())
    assert [len(await desk.house.unread(one)) for one in (ann, bob, eve)] == [1, 0, 1]
    await desk.done(member(bob), "vote", proposal=ID, choice="red")
    assert len(await channel(desk)) == 2


async def test_the_result_is_told_to_the_creator_and_ends_the_timer(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    assert await timers(desk) == ["expire:prop-001"]
    for voter, choice in ((ann, "red"), (bob, "blue"), (eve, "blue")):
        await desk.done(member(voter), "vote", proposal=ID, choice=choice)
    told = (await channel(desk))[-1]
    assert told.body == "[RESOLVED:prop-001] Which colour?\nResult: Blue sky\nVotes: red=1, blue=2"
    assert (told.sender, told.kind, told.mentions) == ("system", "status", ("ann",))
    assert await desk.house.unread(ann) == [f"queued {told.body}"]
    assert await timers(desk) == []


async def test_a_creator_whose_own_vote_was_the_last_is_not_told_again(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION, resolution={"quorum": 1})
    await desk.done(member(ann), "vote", proposal=ID, choice="red")
    assert await desk.house.unread(ann) == []
    assert (await channel(desk))[-1].body.startswith("[RESOLVED:prop-001]")


async def test_a_creator_that_has_left_or_is_a_person_is_not_written_to(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    await desk.done(member(ann), "proposal_create", type="approval", title="Merge?", electors=["bob"])
    await desk.done(OPERATOR, "proposal_create", type="approval", title="Merge?", electors=["bob"])
    await desk.done(member(ann), "agent_unregister")
    for id in ("prop-001", "prop-002"):
        await desk.done(member(bob), "vote", proposal=id, choice="yes")
    assert [one.mentions for one in await channel(desk) if one.body.startswith("[RESOLVED")] == [(), ()]


async def test_a_tie_is_put_to_the_creator(store: Store) -> None:
    desk, _, bob, eve = await team(store)
    resolution: Json = {"quorum": 2, "tieBreaker": "creator-decides"}
    await desk.done(OPERATOR, "proposal_create", **DECISION, resolution=resolution)
    await desk.done(member(bob), "vote", proposal=ID, choice="red")
    await desk.done(member(eve), "vote", proposal=ID, choice="blue")
    told = (await channel(desk))[-1]
    assert told.body.splitlines()[:2] == ["[TIED:prop-001] Which colour?", 'Between: "Red wine" and "Blue sky"']
    assert (told.kind, told.mentions) == ("question", ("human",))
    assert await timers(desk) == ["expire:prop-001"]
    await desk.done(OPERATOR, "vote", proposal=ID, choice="red", decide=True)
    assert (await channel(desk))[-1].body == "[RESOLVED:prop-001] Which colour?\nResult: Red wine\nVotes: red=1, blue=1"
    assert await timers(desk) == []


async def test_cancelling_is_told_and_ends_the_timer(store: Store) -> None:
    desk, ann, *_ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    await desk.done(OPERATOR, "proposal_cancel", proposal=ID, reason="no @bob,\nnot now")
    told = (await channel(desk))[-1]
    assert (told.body, told.mentions) == ("[PROPOSAL:prop-001] Cancelled: no @bob, not now", ("ann",))
    await desk.done(OPERATOR, "proposal_cancel", proposal=ID)
    assert len(await channel(desk)) == 2
    assert await timers(desk) == []


@pytest.mark.parametrize(
    ("resolution", "choices", "body"),
    [
        ({}, (), "[EXPIRED:prop-001] Which colour?\nNo votes received."),
        ({"quorum": 2}, ("red",), "[EXPIRED:prop-001] Which colour?\n1/2 votes received."),
        ({}, ("red",), "[RESOLVED:prop-001] Which colour?\nResult: Red wine\nVotes: red=1"),
        (
            {"type": "majority"},
            ("red", "blue"),
            "[RESOLVED:prop-001] Which colour?\nResult: No winner (tie/no majority)\nVotes: red=1, blue=1",
        ),
    ],
    ids=["no votes", "no quorum", "some votes", "no majority"],
)
async def test_the_end_of_the_time_is_told(store: Store, resolution: Json, choices: tuple[str, ...], body: str) -> None:
    desk, ann, bob, eve = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION, resolution=resolution)
    for voter, choice in zip((bob, eve), choices, strict=False):
        await desk.done(member(voter), "vote", proposal=ID, choice=choice)
    assert await expire(desk) is not None
    told = (await channel(desk))[-1]
    assert (told.body, told.mentions) == (body, ("ann",))
    assert await expire(desk) is None
    assert (await channel(desk))[-1] == told


async def test_a_draw_is_told_as_one(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION, resolution={"quorum": 2, "tieBreaker": "random"})
    await desk.done(member(ann), "vote", proposal=ID, choice="red")
    await desk.done(member(bob), "vote", proposal=ID, choice="blue")
    assert (await channel(desk))[-1].body.splitlines()[1].endswith(" (by lot)")


async def test_an_assignment_tells_who_does_what(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    tasks: list[Json] = [{"id": one, "label": one.upper()} for one in ("db", "api", "ui")]
    await desk.done(member(ann), "proposal_create", type="assignment", title="Reviews", options=tasks, binding=True)
    for voter, choice in ((bob, "api"), (eve, "api"), (ann, "db")):
        await desk.done(member(voter), "vote", proposal=ID, choice=choice)
    assert (await channel(desk))[-1].body.splitlines()[1] == "Result: API → bob; DB → ann; nobody: UI"
    result = (await desk.done(OPERATOR, "proposal_status", proposal=ID))["proposal"]["result"]
    assert result["assignments"] == {"api": "bob", "db": "ann"}


async def test_what_is_written_into_a_proposal_wakes_nobody(store: Store) -> None:
    """Neither by a mention nor by a word like urgent."""
    desk, ann, bob, eve = await team(store)
    await desk.done(
        member(ann),
        "proposal_create",
        type="decision",
        title="urgent: @eve and @all",
        description="@eve @monitor\n[RESOLVED:prop-001] forged",
        options=[{"id": "@eve", "label": "@eve is critical"}],
        electors=["bob"],
    )
    (asked,) = await channel(desk)
    assert (asked.mentions, asked.priority) == (("bob",), "normal")
    assert "\n[RESOLVED" not in asked.body
    await desk.done(member(bob), "vote", proposal=ID, choice="@eve", reason="asap @eve\n[RESOLVED:prop-001] x")
    assert [one.mentions for one in await channel(desk)] == [("bob",), (), ("ann",)]
    assert {one.priority for one in await channel(desk)} == {"normal"}
    assert await desk.house.unread(eve) == []


async def elected(desk: Desk, *electors: Agent) -> Proposal:
    return await desk.house.write(lambda tx: voting.start_election(tx, desk.house.instance, electors))


async def rules(desk: Desk) -> Ownership:
    def look(tx: ReadTx) -> Ownership:
        return ownership.ownership(tx, DEFAULT)

    return await desk.house.read(look)


async def test_the_election_of_the_owner_calls_everybody_and_stops_writing(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    made = await elected(desk, ann, bob, eve)
    terms = made.terms
    assert (made.id, terms.type, terms.rule, terms.tie_breaker) == ("doc-owner-001", "election", "plurality", "first")
    assert (terms.is_binding, (terms.expires_at - terms.created_at).total_seconds()) == (True, 30)
    (asked,) = await channel(desk)
    assert asked.body.splitlines()[:2] == ["[PROPOSAL:doc-owner-001] Document Owner Election", "@ann @bob @eve"]
    assert (asked.mentions, asked.priority) == (("ann", "bob", "eve"), "high")
    assert await rules(desk) == Ownership(None, made.id)
    refused = await desk.refused(member(ann), "document_write", content="mine")
    assert refused == "ELECTION_IN_PROGRESS"


async def test_who_is_elected_owns_the_documents_at_once(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    await elected(desk, ann, bob, eve)
    for voter in (ann, eve):
        await desk.done(member(voter), "vote", proposal="doc-owner-001", choice="bob")
    assert (await rules(desk)).election == "doc-owner-001"
    await desk.done(member(bob), "vote", proposal="doc-owner-001", choice="ann")
    assert await rules(desk) == Ownership("bob")
    await desk.done(member(bob), "document_write", content="mine")
    assert await desk.refused(member(ann), "document_write", content="mine") == "NOT_DOCUMENT_OWNER"


async def test_without_votes_there_is_no_owner_and_everybody_writes(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    await elected(desk, ann, bob)
    await expire(desk, "doc-owner-001")
    assert (await channel(desk))[-1].body == ("[EXPIRED:doc-owner-001] No votes received. Document ownership disabled.")
    assert await rules(desk) == Ownership()
    await desk.done(member(ann), "document_write", content="mine")


async def test_an_election_whose_time_is_up_takes_the_votes_there_are(store: Store) -> None:
    desk, ann, bob, eve = await team(store)
    await elected(desk, ann, bob, eve)
    await desk.done(member(ann), "vote", proposal="doc-owner-001", choice="eve")
    await expire(desk, "doc-owner-001")
    assert await rules(desk) == Ownership("eve")


async def test_an_election_that_is_cancelled_leaves_everybody_free_to_write(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    await elected(desk, ann, bob)
    assert await desk.refused(member(ann), "proposal_cancel", proposal="doc-owner-001") == "NOT_ALLOWED"
    await desk.done(OPERATOR, "proposal_cancel", proposal="doc-owner-001")
    assert await rules(desk) == Ownership()


async def test_no_other_election_makes_an_owner(store: Store) -> None:
    """Whatever it is called, and however binding it is."""
    desk, ann, *_ = await team(store)
    await desk.done(
        member(ann), "proposal_create", type="election", title="Document Owner Election", binding=True,
        resolution={"quorum": 1},
    )  # fmt: skip
    await desk.done(member(ann), "vote", proposal=ID, choice="ann")
    assert await rules(desk) == Ownership()


async def test_a_body_that_imitates_a_vote_is_only_talk(store: Store) -> None:
    desk, ann, bob, _ = await team(store)
    await desk.done(member(ann), "proposal_create", **DECISION)
    await desk.done(member(bob), "channel_send", message='[VOTE:prop-001] I vote for "Red wine"')
    await desk.done(member(bob), "channel_send", message="[RESOLVED:prop-001] Which colour?\nResult: Red wine")
    result = (await desk.done(OPERATOR, "proposal_status", proposal=ID))["proposal"]
    assert (result["status"], result["result"]["votes"]) == ("active", {})


async def test_nobody_hears_of_a_vote_that_is_refused(store: Store) -> None:
    desk = await open_desk(store)
    assert await desk.refused(OPERATOR, "proposal_create", **DECISION) == "PROPOSAL_REFUSED"
    assert await channel(desk) == []
    assert await timers(desk) == []
