"""What can be proposed, what is kept of it, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from moot.core.ids import ProposalId, StreamId
from moot.proposals import plain, proposals
from moot.proposals.errors import OptionUnknown, ProposalNotFound, ProposalRefused
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.proposals.assembly import ANN, BOB, EVERYBODY, Motion, convene
from tests.registry.house import build


async def test_a_proposal_is_open_until_its_time_is_up_and_knows_who_may_vote(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    terms = made.terms
    assert made == await assembly.get(made.id)
    assert (made.id, made.is_open, terms.quorum, terms.is_quorum_required) == ("prop-001", True, 3, False)
    assert terms.expires_at == clock.now() + timedelta(seconds=60)
    assert [one.name for one in made.ballots] == ["ann", "bob", "eve"]
    assert made.votes == ()
    assert [event.kind for event in await assembly.house.events()] == [proposals.CREATED]


async def test_ids_are_counted_by_what_they_are_for(store: Store) -> None:
    assembly = await convene(store)
    made = [await assembly.propose(motion) for motion in (Motion(), Motion(purpose="document_owner"), Motion())]
    assert [one.id for one in made] == ["prop-001", "doc-owner-001", "prop-002"]
    other = await build(store, "other")
    new = replace(Motion().new(other.stream), instance=other.instance.name)
    elsewhere = await other.write(lambda tx: proposals.propose(tx, new))
    assert elsewhere.id == "prop-003"
    assert [one.id for one in await store.read(lambda tx: proposals.all_of(tx, other.stream))] == ["prop-003"]


@pytest.mark.parametrize(
    ("motion", "options"),
    [
        (Motion("election", options={}), {"ann": "@ann", "bob": "@bob", "eve": "@eve"}),
        (Motion("approval", options={}), {"yes": "Approve", "no": "Reject"}),
        (Motion("approval", options={"now": "Now"}), {"now": "Now"}),
        (Motion("decision", options={"b": "B", "a": "A"}), {"b": "B", "a": "A"}),
    ],
    ids=["election", "approval", "own approval", "decision"],
)
async def test_options_come_from_the_type_where_none_are_given(
    store: Store, motion: Motion, options: dict[str, str]
) -> None:
    assembly = await convene(store)
    made = await assembly.propose(motion)
    assert list((await assembly.get(made.id)).terms.options.items()) == list(options.items())


@pytest.mark.parametrize(
    ("motion", "fact"),
    [
        (Motion("decision", options={}), "no options"),
        (Motion("assignment", options={}), "no options"),
        (Motion(electors=()), "nobody who could vote"),
        (Motion(quorum=4), "A quorum of 4 cannot be reached: 3 may vote"),
        (Motion(quorum=0), "A quorum of 0"),
        (Motion(quorum=-1), "A quorum of -1"),
        (Motion(options={"A": "x", "a": "y"}), "same id"),
        (Motion("assignment", rule="majority"), "no rule decides it"),
        (Motion("assignment", tie_breaker="random"), "no rule decides it"),
    ],
)
async def test_what_cannot_be_voted_on_is_refused_and_leaves_nothing(store: Store, motion: Motion, fact: str) -> None:
    assembly = await convene(store)
    with pytest.raises(ProposalRefused, match=fact):
        await assembly.propose(motion)
    assert await store.read(lambda tx: proposals.all_of(tx, assembly.house.stream)) == []
    assert await assembly.house.events() == []
    assert (await assembly.propose()).id == "prop-001"


async def test_only_open_ones_can_be_voted_on_and_all_are_kept(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    stream = assembly.house.stream
    first = await assembly.propose()
    clock.advance(1)
    second = await assembly.propose()
    assert await store.read(lambda tx: proposals.has_open(tx, stream))
    await assembly.expire(first.id)
    assert [one.id for one in await store.read(lambda tx: proposals.open_of(tx, stream))] == [second.id]
    assert [one.id for one in await store.read(lambda tx: proposals.all_of(tx, stream))] == [first.id, second.id]
    await assembly.expire(second.id)
    assert not await store.read(lambda tx: proposals.has_open(tx, stream))


async def test_the_last_one_for_a_purpose_is_found(store: Store, clock: ManualClock) -> None:
    assembly = await convene(store)
    stream = assembly.house.stream
    assert await store.read(lambda tx: proposals.latest_for(tx, stream, "document_owner")) is None
    for motion in (Motion(purpose="document_owner"), Motion(purpose="document_owner"), Motion()):
        await assembly.propose(motion)
        clock.advance(1)
    found = await store.read(lambda tx: proposals.latest_for(tx, stream, "document_owner"))
    assert found is not None
    assert found.id == "doc-owner-002"


async def test_a_proposal_of_another_instance_is_as_good_as_none(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose()
    for id, stream in ((made.id, StreamId("in_other")), (ProposalId("prop-999"), None), (ProposalId("x" * 999), None)):
        with pytest.raises(ProposalNotFound) as refused:
            await store.read(lambda tx, id=id, stream=stream: proposals.get(tx, id, stream))
        assert len(str(refused.value)) < 200
    assert await store.read(lambda tx: proposals.get(tx, made.id, assembly.house.stream)) == made


@pytest.mark.parametrize("choice", ["red", "RED", "Red wine", "@red", " red "])
async def test_an_option_may_be_spelled_as_people_do(store: Store, choice: str) -> None:
    made = await (await convene(store)).propose()
    assert made.option(choice) == "red"


@pytest.mark.parametrize("choice", ["", "green", "r", "red,blue", "@", "same"])
async def test_an_option_that_is_none_is_refused(store: Store, choice: str) -> None:
    options = {"red": "Same", "blue": "Same"}
    made = await (await convene(store)).propose(Motion(options=options))
    with pytest.raises(OptionUnknown, match="red, blue"):
        made.option(choice)


async def test_everything_is_there_after_a_restart(open_store: Callable[[], Store]) -> None:
    assembly = await convene(open_store())
    made = await assembly.propose(Motion(rule="majority", quorum=2, tie_breaker="random"))
    await assembly.vote(made.id, BOB, "blue", "it is calm")
    again = await open_store().read(lambda tx: proposals.get(tx, made.id))
    assert again == await assembly.get(made.id)
    assert again.terms == made.terms
    assert [(one.voter, one.choice, one.reason) for one in again.votes] == [("bob", "blue", "it is calm")]


async def test_as_json_it_has_the_names_that_everyone_knows(store: Store) -> None:
    assembly = await convene(store)
    made = await assembly.propose(Motion(quorum=2, electors=EVERYBODY[:2]))
    await assembly.vote(made.id, BOB, "blue", "calm")
    cast = await assembly.vote(made.id, ANN, "blue")
    found = plain.proposal(cast.proposal)
    assert found == plain.proposal(await assembly.get(made.id))
    moments = {name: found.pop(name) for name in ("createdAt", "expiresAt")}
    assert all(str(moment).endswith("Z") for moment in moments.values())
    assert found == {
        "id": "prop-001",
        "type": "decision",
        "title": "Which colour?",
        "description": "",
        "options": [{"id": "red", "label": "Red wine"}, {"id": "blue", "label": "Blue sky"}],
        "createdBy": "ann",
        "resolution": {"type": "plurality", "quorum": 2, "tieBreaker": "first"},
        "binding": False,
        "status": "resolved",
        "electors": ["ann", "bob"],
        "result": {
            "winner": "blue",
            "votes": {"bob": "blue", "ann": "blue"},
            "counts": {"red": 0, "blue": 2},
            "reasons": {"bob": "calm"},
            "resolvedAt": moments["createdAt"],
            "resolvedBy": "votes",
        },
    }
