"""The life of mail: queued, delivered, acked; parked and dead; and that only what was handed out is acknowledged."""

from dataclasses import asdict, replace
from datetime import datetime, timedelta

import pytest

from moot.bus import mailbox, messages
from moot.bus.errors import NothingToAcknowledge
from moot.bus.mailbox import Counts, Mail, Receipt
from moot.bus.messages import Draft, Message, Recipient
from moot.core.ids import AttemptId, MessageId
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.registry.house import House, build, described

FIRST, SECOND = AttemptId("at_1"), AttemptId("at_2")


async def hand_out(house: House, agent: Agent, attempt: AttemptId, limit: int = 100) -> list[str]:
    return described(await house.write(lambda tx: mailbox.hand_out(tx, agent.id, attempt, limit)))


async def show(house: House, agent: Agent, limit: int = 100) -> list[str]:
    return described(await house.write(lambda tx: mailbox.show(tx, agent.id, None, limit)))


async def ack(house: House, agent: Agent, reference: MessageId | int) -> int:
    return await house.write(lambda tx: mailbox.ack_named(tx, agent.id, reference))


async def test_mail_is_queued_then_delivered_then_acked(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    message = await house.post("hello", ann)
    assert await house.unread(ann) == ["queued hello"]

    clock.advance(1)
    delivered_at = clock.now()
    assert await hand_out(house, ann, FIRST) == ["delivered hello"]
    assert await house.unread(ann) == ["delivered hello"]

    clock.advance(1)
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST)) == 1
    assert await house.unread(ann) == []
    receipts = await house.read(lambda tx: mailbox.receipts(tx, message.stream, message.seq))
    assert receipts == [Receipt(ann.id, "acked", delivered_at, clock.now())]


async def test_mail_lies_with_its_message_whole(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    root = await house.post("root")
    draft = Draft(house.stream, "bob", "answer", None, "question", ("ann",), "high", root.id, "t1", FIRST)
    said = await house.write(lambda tx: messages.post(tx, draft, [Recipient(ann.id, "ann")]))
    (mail,) = await house.read(lambda tx: mailbox.unread(tx, ann.id, 10))
    assert mail == Mail(**asdict(said), state="queued")


async def test_looking_changes_nothing(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await house.post("hello", ann)
    for _ in range(2):
        assert await house.unread(ann) == ["queued hello"]
        assert await house.read(lambda tx: mailbox.has_queued(tx, ann.id))
        assert await house.read(lambda tx: mailbox.count_unread(tx, ann.id)) == 1


async def test_each_recipient_has_its_own_row(store: Store) -> None:
    house = await build(store)
    ann, bob, eve = [await house.join(name) for name in ("ann", "bob", "eve")]
    message = await house.post("hello", ann, bob)
    await hand_out(house, ann, FIRST)
    await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST))
    assert await house.states(message) == {ann.id: "acked", bob.id: "queued"}
    assert await house.unread(bob) == ["queued hello"]
    assert await house.unread(eve) == []


async def test_mail_to_a_service_is_acked_on_arrival(store: Store) -> None:
    house = await build(store)
    service = await house.write(lambda tx: agents.service(tx, house.instance, "system"))
    message = await house.post("note", service)
    receipts = await house.read(lambda tx: mailbox.receipts(tx, message.stream, message.seq))
    assert receipts == [Receipt(service.id, "acked", None, message.at)]
    assert (await house.events())[-1].data["to"] == []


async def test_the_oldest_mail_is_handed_out_first_and_no_more_than_asked_for(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    for number in range(1, 6):
        await house.post(f"m{number}", ann)
    assert await hand_out(house, ann, FIRST, 2) == ["delivered m1", "delivered m2"]
    assert await hand_out(house, ann, FIRST, 1) == ["delivered m1", "delivered m2", "delivered m3"]
    assert await hand_out(house, ann, SECOND, 1) == ["delivered m4"]
    assert await house.unread(ann) == [f"delivered m{number}" for number in range(1, 5)] + ["queued m5"]


async def test_handing_out_nothing_is_nothing(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    await house.post("for bob", bob)
    assert await hand_out(house, ann, FIRST) == []
    assert await house.unread(bob) == ["queued for bob"]
    assert not await house.read(lambda tx: mailbox.has_queued(tx, ann.id))


async def test_an_attempt_acknowledges_exactly_what_it_was_given(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await house.post("given", ann)
    await hand_out(house, ann, FIRST)
    await house.post("came later", ann)
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, SECOND)) == 0
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST)) == 1
    assert await house.unread(ann) == ["queued came later"]


async def test_what_is_shown_is_exactly_what_counts_as_handed_out(store: Store) -> None:
    """With two shown before and a limit of three, one more is seen, so one more is marked."""
    house = await build(store)
    ann = await house.join("ann")
    for number in range(1, 6):
        await house.post(f"m{number}", ann)
    assert await show(house, ann, 2) == ["delivered m1", "delivered m2"]
    assert await show(house, ann, 3) == ["delivered m1", "delivered m2", "delivered m3"]
    assert await house.unread(ann) == ["delivered m1", "delivered m2", "delivered m3", "queued m4", "queued m5"]


async def test_mail_shown_to_an_attempt_is_acknowledged_with_it(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await house.post("m1", ann)
    await house.write(lambda tx: mailbox.show(tx, ann.id, FIRST, 10))
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST)) == 1


async def test_showing_again_keeps_the_first_delivery(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    message = await house.post("m1", ann)
    await house.write(lambda tx: mailbox.show(tx, ann.id, FIRST, 10))
    first = clock.now()
    clock.advance(1)
    await house.write(lambda tx: mailbox.show(tx, ann.id, SECOND, 10))
    receipts = await house.read(lambda tx: mailbox.receipts(tx, message.stream, message.seq))
    assert receipts == [Receipt(ann.id, "delivered", first, None)]
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, SECOND)) == 0


async def test_mail_of_a_failed_attempt_waits_again(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await house.post("m1", ann)
    await hand_out(house, ann, FIRST)
    assert await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST)) == 1
    assert await house.unread(ann) == ["queued m1"]
    assert await hand_out(house, ann, SECOND) == ["delivered m1"]
    assert await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST)) == 0


async def test_taking_back_leaves_what_was_acknowledged(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    done = await house.post("done", ann)
    await house.post("not done", ann)
    await hand_out(house, ann, FIRST)
    await ack(house, ann, done.id)
    assert await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST)) == 1
    assert await house.unread(ann) == ["queued not done"]


async def test_parked_mail_wakes_nobody_and_is_counted_apart(store: Store) -> None:
    house = await build(store)
    ann, bob, eve = [await house.join(name) for name in ("ann", "bob", "eve")]
    await house.post("m1", ann, bob)
    await hand_out(house, ann, FIRST)
    assert await house.write(lambda tx: mailbox.park(tx, ann.id, FIRST)) == 1
    await house.post("m2", ann)
    assert await house.parked(ann) == ["parked m1"]
    assert await house.unread(ann) == ["queued m2"]
    counts = await house.read(lambda tx: mailbox.counts(tx, house.stream))
    assert counts == {ann.id: Counts(ann.id, 1, 1), bob.id: Counts(bob.id, 1, 0)}
    assert eve.id not in counts


async def test_counts_are_of_one_stream(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    ann = await house.join("ann")
    await house.post("m1", ann)
    assert await other.read(lambda tx: mailbox.counts(tx, other.stream)) == {}


async def parked_once(house: House, agent: Agent) -> None:
    """`old` was handed out and given up."""
    await house.post("old", agent)
    await hand_out(house, agent, AttemptId("at_0"))
    await house.write(lambda tx: mailbox.park(tx, agent.id, AttemptId("at_0")))


async def test_parked_mail_joins_the_next_batch(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await parked_once(house, ann)
    await house.post("new", ann)
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, FIRST))
    assert await hand_out(house, ann, FIRST) == ["delivered old", "delivered new"]
    assert await house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, FIRST)) == 2
    assert await house.parked(ann) == []


async def test_if_the_batch_fails_with_parked_mail_it_is_tried_without(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await parked_once(house, ann)
    await house.post("new", ann)
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, FIRST))
    await hand_out(house, ann, FIRST)
    assert await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST)) == 1
    assert await house.parked(ann) == ["parked old"]
    assert await hand_out(house, ann, SECOND) == ["delivered new"]


async def test_parked_mail_joins_only_once(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await parked_once(house, ann)
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, FIRST))
    await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST))
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, SECOND))
    assert await hand_out(house, ann, SECOND) == []
    assert await house.parked(ann) == ["parked old"]


async def test_revived_mail_is_new_again_and_may_join_once_more(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await parked_once(house, ann)
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, FIRST))
    await house.write(lambda tx: mailbox.take_back(tx, ann.id, FIRST))
    assert await house.write(lambda tx: mailbox.revive(tx, ann.id)) == 1
    assert await house.unread(ann) == ["queued old"]
    await hand_out(house, ann, SECOND)
    await house.write(lambda tx: mailbox.park(tx, ann.id, SECOND))
    third = AttemptId("at_3")
    await house.write(lambda tx: mailbox.rejoin(tx, ann.id, third))
    assert await hand_out(house, ann, third) == ["delivered old"]


async def test_what_came_later_than_a_moment_is_not_given_up_with_the_rest(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    old = await house.post("old", ann)
    await house.post("new", ann)
    await hand_out(house, ann, FIRST)
    assert await house.write(lambda tx: mailbox.park_until(tx, ann.id, FIRST, old.at)) == 1
    assert (await house.parked(ann), await house.unread(ann)) == (["parked old"], ["queued new"])


async def test_one_message_is_revived_or_dropped_and_the_others_stay(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    one, two = await house.post("one", ann, bob), await house.post("two", ann)
    await hand_out(house, ann, FIRST)
    await house.write(lambda tx: mailbox.park(tx, ann.id, FIRST))
    assert await house.write(lambda tx: mailbox.drop_message(tx, house.stream, two.seq)) == [ann.id]
    assert await house.write(lambda tx: mailbox.revive_message(tx, house.stream, one.seq)) == [ann.id]
    assert (await house.parked(ann), await house.unread(ann)) == ([], ["queued one"])
    assert await house.unread(bob) == ["queued one"]
    for change in (mailbox.drop_message, mailbox.revive_message):
        assert await house.write(lambda tx, change=change: change(tx, house.stream, two.seq)) == []


async def test_mail_to_somebody_who_is_gone_is_dead(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    await parked_once(house, ann)
    acked = await house.post("acked", ann)
    await show(house, ann)
    await ack(house, ann, acked.id)
    delivered = await house.post("delivered", ann)
    await hand_out(house, ann, FIRST)
    queued = await house.post("queued", ann, bob)
    assert await house.write(lambda tx: mailbox.bury(tx, ann.id)) == 3
    assert [await house.states(one) for one in (acked, delivered, queued)] == [
        {ann.id: "acked"},
        {ann.id: "dead"},
        {ann.id: "dead", bob.id: "queued"},
    ]
    assert await house.unread(ann) == await house.parked(ann) == []
    assert await house.write(lambda tx: mailbox.revive(tx, ann.id)) == 0
    assert await house.read(lambda tx: mailbox.counts(tx, house.stream)) == {bob.id: Counts(bob.id, 1, 0)}


async def test_mail_to_an_agent_that_leaves_while_it_is_sent_is_dead_on_arrival(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    await house.write(lambda tx: agents.unregister(tx, ann.id))
    message = await house.post("too late", ann)
    assert await house.states(message) == {ann.id: "dead"}


async def three_of_which_two_were_shown(house: House, agent: Agent, clock: ManualClock) -> list[Message]:
    said: list[Message] = []
    for number in (1, 2, 3):
        clock.advance(1)
        said.append(await house.post(f"m{number}", agent))
    await show(house, agent, 2)
    return said


@pytest.mark.parametrize("by", ["id", "seq"])
async def test_naming_a_message_acknowledges_it_and_what_was_handed_out_before(
    store: Store, clock: ManualClock, by: str
) -> None:
    house = await build(store)
    ann = await house.join("ann")
    said = await three_of_which_two_were_shown(house, ann, clock)
    named = said[1].id if by == "id" else said[1].seq
    assert await ack(house, ann, named) == 2
    assert await house.unread(ann) == ["queued m3"]
    assert await ack(house, ann, named) == 0


async def test_naming_an_earlier_message_leaves_the_later_ones(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    said = await three_of_which_two_were_shown(house, ann, clock)
    assert await ack(house, ann, said[0].id) == 1
    assert await house.unread(ann) == ["delivered m2", "queued m3"]


@pytest.mark.parametrize("by", ["id", "seq"])
async def test_what_was_not_handed_out_cannot_be_acknowledged_by_name(
    store: Store, clock: ManualClock, by: str
) -> None:
    house = await build(store)
    ann = await house.join("ann")
    said = await three_of_which_two_were_shown(house, ann, clock)
    with pytest.raises(NothingToAcknowledge, match="not handed out"):
        await ack(house, ann, said[2].id if by == "id" else said[2].seq)
    assert await house.unread(ann) == ["delivered m1", "delivered m2", "queued m3"]


async def test_a_moment_acknowledges_only_what_was_handed_out(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    said = await three_of_which_two_were_shown(house, ann, clock)

    async def until(moment: datetime) -> int:
        return await house.write(lambda tx: mailbox.ack_until(tx, ann.id, moment))

    assert await until(said[0].at - timedelta(microseconds=1)) == 0
    assert await until(said[0].at) == 1
    assert await house.unread(ann) == ["delivered m2", "queued m3"]
    assert await until(clock.now() + timedelta(days=365)) == 1
    assert await house.unread(ann) == ["queued m3"]


async def test_naming_nothing_of_ones_own_is_refused(store: Store) -> None:
    house = await build(store)
    ann, bob = await house.join("ann"), await house.join("bob")
    other = await house.post("for bob", bob)
    mine = await house.post("for ann", ann)
    await show(house, ann)
    await show(house, bob)
    for named in (other.id, other.seq, MessageId("ms_unknown"), 0, -1, mine.seq + 1, 2**62):
        with pytest.raises(NothingToAcknowledge):
            await ack(house, ann, named)
    assert await house.unread(ann) == ["delivered for ann"]
    assert await house.unread(bob) == ["delivered for bob"]


async def test_dead_mail_cannot_be_acknowledged(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    message = await house.post("m1", ann)
    await show(house, ann)
    await house.write(lambda tx: mailbox.bury(tx, ann.id))
    with pytest.raises(NothingToAcknowledge):
        await ack(house, ann, message.id)


async def test_parked_mail_can_be_acknowledged_by_name(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    await parked_once(house, ann)
    (old,) = await house.read(lambda tx: mailbox.parked(tx, ann.id, 10))
    assert await ack(house, ann, old.id) == 1
    assert await house.parked(ann) == []


async def test_a_person_acknowledges_just_what_was_read(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    said = [await house.post(f"m{number}", ann) for number in (1, 2, 3)]

    def change(tx: Tx) -> list[int]:
        return [mailbox.ack_one(tx, ann.id, said[1].seq) for _ in range(2)]

    assert await house.write(change) == [1, 0]
    assert await house.unread(ann) == ["queued m1", "queued m3"]


async def test_the_same_number_in_another_stream_is_another_message(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    ann, eve = await house.join("ann"), await other.join("eve")
    mine, theirs = await house.post("mine", ann), await other.post("theirs", eve)
    assert mine.seq == theirs.seq
    await show(house, ann)
    await show(other, eve)
    assert await ack(house, ann, mine.seq) == 1
    assert await other.unread(eve) == ["delivered theirs"]
    assert replace(mine, stream=other.stream) != theirs
