"""Messages are numbered by their events and found by number, id, time and thread, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from moot.bus import messages
from moot.bus.errors import MessageEmpty, MessageNotFound
from moot.bus.messages import Draft, Message
from moot.core.errors import InvalidInput
from moot.core.ids import AttemptId, MessageId
from moot.core.tx import ReadTx
from moot.store import postgres
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import House, build, posted

YESTERDAY = datetime(2025, 12, 31, tzinfo=UTC)


def bodies(found: list[Message]) -> list[str]:
    return [message.body for message in found]


async def hear(house: House, count: int) -> list[Message]:
    return [await house.post(f"m{number}") for number in range(1, count + 1)]


async def test_a_message_has_the_number_and_the_time_of_its_event(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann")
    clock.advance(5)
    message = await house.post("hello", ann)
    events = await house.events()
    assert [event.kind for event in events] == ["agent_registered", "message_posted"]
    event = events[-1]
    assert (message.seq, message.at) == (event.seq, event.at) == (2, clock.now())
    assert event.subject == message.id
    assert event.data == {"from": "human", "kind": "message", "to": [ann.id]}


async def test_what_was_said_is_read_back_whole(store: Store) -> None:
    house = await build(store)
    ann = await house.join("ann")
    first = await house.post("hello")
    draft = Draft(
        stream=house.stream,
        sender="ann",
        sender_id=ann.id,
        body="ünï ✓\n\ttwo lines ",
        kind="question",
        mentions=("bob", "eve"),
        priority="high",
        reply_to=first.id,
        task_id="t1",
        attempt=AttemptId("at_1"),
    )
    said = await house.write(lambda tx: messages.post(tx, draft, []))
    found = await house.read(lambda tx: messages.get(tx, said.id, house.stream))
    assert found == said
    assert (found.body, found.mentions, found.kind, found.priority) == (draft.body, ("bob", "eve"), "question", "high")
    assert (found.thread, found.reply_to, found.task_id, found.attempt) == (first.id, first.id, "t1", "at_1")


async def test_a_message_that_says_nothing_or_cannot_be_kept_is_refused(store: Store) -> None:
    house = await build(store)
    for body in ("", "  ", "\n\t "):
        with pytest.raises(MessageEmpty):
            await house.post(body)
    for body in ("a\0b", "\ud800", "a" * 1_000_001):
        with pytest.raises(InvalidInput):
            await house.post(body)
    assert await house.read(lambda tx: messages.count(tx, house.stream)) == 0
    assert await house.events() == []


async def test_the_longest_message_is_kept_whole(store: Store) -> None:
    house = await build(store)
    said = await house.post("ü" * 1_000_000)
    assert (await house.read(lambda tx: messages.get(tx, said.id, house.stream))).body == "ü" * 1_000_000


async def test_reading_by_number_keeps_the_last_and_the_order(store: Store) -> None:
    house = await build(store)
    said = await hear(house, 5)

    def look(tx: ReadTx) -> tuple[list[str], ...]:
        return (
            bodies(messages.latest(tx, house.stream, 2)),
            bodies(messages.latest(tx, house.stream, 100)),
            bodies(messages.latest_after(tx, house.stream, said[1].seq, 2)),
            bodies(messages.after(tx, house.stream, said[1].seq, 2)),
            bodies(messages.after(tx, house.stream, said[4].seq, 2)),
        )

    assert await house.read(look) == (
        ["m4", "m5"],
        ["m1", "m2", "m3", "m4", "m5"],
        ["m4", "m5"],
        ["m3", "m4"],
        [],
    )


async def test_since_a_moment_is_exclusive(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    moments = [clock.now()]
    for number in (1, 2, 3):
        clock.advance(1)
        moments.append(clock.now())
        await house.post(f"m{number}")

    async def since(moment: int, limit: int = 100) -> list[str]:
        found = await house.read(lambda tx: messages.latest_after_time(tx, house.stream, moments[moment], limit))
        return bodies(found)

    assert [await since(moment) for moment in (0, 1, 2, 3)] == [["m1", "m2", "m3"], ["m2", "m3"], ["m3"], []]
    assert await since(0, limit=2) == ["m2", "m3"]


async def test_a_message_from_a_clock_that_is_behind_is_not_older_than_the_one_before(
    pg_store: PostgresStore, pg_made_url: str, clock: ManualClock
) -> None:
    """Otherwise a reader who asks for what came after the last time it saw would miss it."""
    house = await build(pg_store)
    first = await house.post("first")
    behind = postgres.open_url(pg_made_url, create=False, clock=ManualClock(YESTERDAY))
    try:
        second = await House(behind, house.instance).post("second")
    finally:
        await behind.close()
    assert first.at == clock.now()
    assert second.at == first.at + timedelta(microseconds=1)
    for moment, younger in ((YESTERDAY, [first, second]), (first.at, [second]), (second.at, [])):
        assert await house.read(lambda tx, at=moment: messages.latest_after_time(tx, house.stream, at, 10)) == younger


async def test_messages_of_one_moment_have_different_times(store: Store, clock: ManualClock) -> None:
    house, other = await build(store), await build(store, "other")
    said = await hear(house, 4)
    assert [message.at - clock.now() for message in said] == [timedelta(microseconds=step) for step in range(4)]
    found = await house.read(lambda tx: messages.latest_after_time(tx, house.stream, said[1].at, 10))
    assert bodies(found) == ["m3", "m4"]
    assert (await other.post("elsewhere")).at == clock.now()
    clock.advance(0.000004)
    assert (await house.post("m5")).at == clock.now()


async def test_two_who_speak_at_once_have_different_times(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    met = await interleave(
        pg_store, lambda tx: posted(tx, house.stream, "first"), lambda tx: posted(tx, house.stream, "second")
    )
    assert met.second_waited
    assert (met.first.seq, met.second.seq) == (1, 2)
    assert met.second.at == met.first.at + timedelta(microseconds=1)


async def test_a_thread_is_its_root_and_all_answers(store: Store) -> None:
    house = await build(store)
    root = await house.post("root")
    await house.post("aside")
    answer = await house.post("answer", reply_to=root)
    deeper = await house.post("deeper", reply_to=answer)
    assert {answer.thread, deeper.thread} == {root.id}
    assert deeper.reply_to == answer.id
    thread = await house.read(lambda tx: messages.of_thread(tx, root.id, 100))
    assert bodies(thread) == ["root", "answer", "deeper"]
    last = await house.read(lambda tx: messages.of_thread(tx, root.id, 2))
    assert bodies(last) == ["answer", "deeper"]


async def test_an_answer_to_nothing_or_to_another_stream_is_refused(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    elsewhere = await other.post("here")
    unknown = Draft(house.stream, "human", "what?", reply_to=MessageId("ms_unknown"))
    with pytest.raises(MessageNotFound):
        await house.write(lambda tx: messages.post(tx, unknown, []))
    with pytest.raises(MessageNotFound):
        await house.post("what?", reply_to=elsewhere)
    assert await house.read(lambda tx: messages.count(tx, house.stream)) == 0


async def test_a_message_is_found_in_its_own_stream_only(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    said = await house.post("here")
    with pytest.raises(MessageNotFound):
        await other.read(lambda tx: messages.get(tx, said.id, other.stream))


async def test_streams_are_numbered_by_themselves(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    numbers = [(await one.post("m")).seq for one in (house, other, house, other)]
    assert numbers == [1, 1, 2, 2]


async def test_what_was_said_is_counted_by_stream(store: Store) -> None:
    house, other = await build(store), await build(store, "other")
    for _ in range(3):
        await house.post("x")
    assert await house.read(lambda tx: messages.count(tx, house.stream)) == 3
    assert await house.read(lambda tx: messages.count(tx, other.stream)) == 0
