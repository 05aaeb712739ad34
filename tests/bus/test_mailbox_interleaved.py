"""Two transactions that meet over one mailbox: nothing is handed out twice, nothing acknowledged comes back."""

import pytest

from moot.bus import mailbox, messages
from moot.bus.messages import Draft, Message, Recipient
from moot.core.ids import AttemptId
from moot.core.tx import Tx
from moot.registry import agents
from moot.store.postgres import PostgresStore
from tests.interleave import interleave
from tests.registry.house import build, described, posted

FIRST, SECOND = AttemptId("at_1"), AttemptId("at_2")


@pytest.mark.parametrize("limit", [2, 100])
async def test_mail_is_handed_to_one_of_two_who_ask_at_once(pg_store: PostgresStore, limit: int) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    for number in (1, 2):
        await house.post(f"m{number}", ann)
    met = await interleave(
        pg_store,
        lambda tx: mailbox.hand_out(tx, ann.id, FIRST, limit),
        lambda tx: mailbox.hand_out(tx, ann.id, SECOND, limit),
    )
    assert met.second_waited
    assert described(met.first) == ["delivered m1", "delivered m2"]
    assert met.second == []


async def test_further_mail_is_new_to_one_of_two_who_ask_at_once_for_one_attempt(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    attempt = await house.start(ann)
    await house.post("m1", ann)
    met = await interleave(
        pg_store,
        lambda tx: mailbox.hand_out_more(tx, ann.id, attempt, 10),
        lambda tx: mailbox.hand_out_more(tx, ann.id, attempt, 10),
    )
    assert met.second_waited
    assert (described(met.first), met.second) == (["delivered m1"], [])


async def test_mail_shown_twice_at_once_belongs_to_the_first_who_saw_it(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    await house.post("m1", ann)
    await interleave(
        pg_store,
        lambda tx: mailbox.show(tx, ann.id, FIRST, 10),
        lambda tx: mailbox.show(tx, ann.id, SECOND, 10),
    )
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, SECOND)) == 0
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST)) == 1


async def test_what_is_acknowledged_while_it_is_taken_back_stays_acknowledged(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    message = await house.post("m1", ann)
    await house.write(lambda tx: mailbox.hand_out(tx, ann.id, FIRST, 10))
    met = await interleave(
        pg_store,
        lambda tx: mailbox.ack_named(tx, ann.id, message.id),
        lambda tx: mailbox.take_back(tx, ann.id, FIRST),
    )
    assert (met.first, met.second) == (1, 0)
    assert await house.states(message) == {ann.id: "acked"}


async def test_what_is_taken_back_while_it_is_acknowledged_is_not_lost_to_the_next_attempt(
    pg_store: PostgresStore,
) -> None:
    """The one who acknowledged had seen it; what counts is that the message is in one state, and once."""
    house = await build(pg_store)
    ann = await house.join("ann")
    message = await house.post("m1", ann)
    await house.write(lambda tx: mailbox.hand_out(tx, ann.id, FIRST, 10))
    met = await interleave(
        pg_store,
        lambda tx: mailbox.take_back(tx, ann.id, FIRST),
        lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST),
    )
    assert (met.first, met.second) == (1, 0)
    assert await house.states(message) == {ann.id: "queued"}


async def test_mail_that_comes_while_mail_is_handed_out_waits_for_the_next_time(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    await house.post("m1", ann)
    met = await interleave(
        pg_store,
        lambda tx: posted(tx, house.stream, "m2", [ann]),
        lambda tx: mailbox.hand_out(tx, ann.id, FIRST, 100),
    )
    assert not met.second_waited
    assert described(met.second) == ["delivered m1"]
    assert await house.unread(ann) == ["delivered m1", "queued m2"]


def say_to_ann(tx: Tx, agent: agents.Agent) -> Message:
    """As a tool does it: who is here is read first, the message numbered afterwards."""
    here = [Recipient(one.id, one.name) for one in agents.members(tx, agent.stream) if one.name == agent.name]
    return messages.post(tx, Draft(agent.stream, "human", "hello"), here)


def leave(tx: Tx, agent: agents.Agent) -> None:
    agents.unregister(tx, agent.id)
    mailbox.bury(tx, agent.id)


async def test_mail_to_an_agent_that_leaves_at_that_moment_is_dead(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    met = await interleave(pg_store, lambda tx: leave(tx, ann), lambda tx: say_to_ann(tx, ann))
    assert met.second_waited
    assert await house.states(met.second) == {ann.id: "dead"}


async def test_an_agent_that_leaves_buries_mail_that_comes_at_that_moment(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    met = await interleave(pg_store, lambda tx: say_to_ann(tx, ann), lambda tx: leave(tx, ann))
    assert met.second_waited
    assert await house.states(met.first) == {ann.id: "dead"}
