"""The inbox tools: what waits, waiting for it, and being done with it."""

import asyncio

import orjson

from moot.core.json import Json
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.tools.desk import OPERATOR, Desk, member, open_desk


async def inbox(desk: Desk, name: str, **arguments: Json) -> list[str]:
    agent = await desk.house.join(name)
    found = await desk.done(member(agent), "inbox_check", **arguments)
    return [one["entry"]["message"] for one in found["messages"]]


async def fill(desk: Desk, *bodies: str) -> list[dict[str, Json]]:
    return [await desk.done(OPERATOR, "channel_send", message=body, to=["ann"]) for body in bodies]


def name(message: dict[str, Json], by: str) -> Json:
    return str(message["seq"]) if by == "seq as text" else message[by]


async def test_an_empty_inbox_is_an_empty_list(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    answer = await desk.call(member(ann), "inbox_check")
    assert answer.text == "[]"
    assert answer.structured == {"messages": []}


async def test_a_message_in_an_inbox_is_its_entry_and_how_urgent_it_is(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    (sent,) = await fill(desk, "this is urgent")
    answer = await desk.call(member(ann), "inbox_check")
    (mail,) = orjson.loads(answer.text)
    assert answer.structured == {"messages": [mail]}
    assert (mail["unread"], mail["priority"]) == (True, "high")
    entry = mail["entry"]
    assert (entry["id"], entry["seq"], entry["from"], entry["message"]) == (
        sent["id"], sent["seq"], "human", "this is urgent",
    )  # fmt: skip


async def test_checking_hands_out_but_acknowledges_nothing(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    await fill(desk, "m1", "m2", "m3")
    assert await inbox(desk, "ann", limit=2) == ["m1", "m2"]
    assert await desk.house.unread(ann) == ["delivered m1", "delivered m2", "queued m3"]
    assert await inbox(desk, "ann") == ["m1", "m2", "m3"]
    assert await inbox(desk, "ann") == ["m1", "m2", "m3"]


async def test_a_waiting_check_is_woken_by_mail(store: Store) -> None:
    desk = await open_desk(store)
    await desk.house.join("ann")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(inbox(desk, "ann", wait_seconds=50))
        await fill(desk, "wake up")
    assert waiting.result() == ["wake up"]


async def test_a_waiting_check_is_woken_by_another_process(store: Store, neighbour: Store) -> None:
    desk, there = await open_desk(store), await open_desk(neighbour)
    await desk.house.join("ann")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(inbox(desk, "ann", wait_seconds=50))
        await fill(there, "wake up")
    assert waiting.result() == ["wake up"]


async def test_mail_for_somebody_else_does_not_end_the_wait(store: Store) -> None:
    desk = await open_desk(store)
    await desk.house.join("ann")
    await desk.house.join("bob")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(inbox(desk, "bob", wait_seconds=50))
        await fill(desk, "for ann")
        await desk.done(OPERATOR, "channel_send", message="@bob")
    assert waiting.result() == ["@bob"]


async def test_the_wait_for_nothing_ends(store: Store) -> None:
    desk = await open_desk(store)
    assert await inbox(desk, "ann", wait_seconds=0.01) == []


async def test_acknowledging_answers_acknowledged_and_how_much(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    for by in ("id", "seq", "timestamp", "seq as text"):
        sent: list[dict[str, Json]] = []
        for body in ("m1", "m2", "m3"):
            clock.advance(1)
            sent += await fill(desk, body)
        await inbox(desk, "ann", limit=2)
        answer = await desk.call(member(ann), "inbox_ack", {"until": name(sent[1], by)})
        assert (answer.text, answer.structured) == ("acknowledged", {"status": "acknowledged", "acknowledged": 2})
        assert await desk.house.unread(ann) == ["queued m3"]
        await inbox(desk, "ann")
        assert (await desk.done(member(ann), "inbox_ack", until=name(sent[2], by)))["acknowledged"] == 1
        assert await desk.house.unread(ann) == []


async def test_only_ones_own_and_what_was_handed_out_can_be_acknowledged(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    (mine,) = await fill(desk, "m1")
    caller = member(ann)
    assert await desk.refused(caller, "inbox_ack", until=mine["id"]) == "NOTHING_TO_ACKNOWLEDGE"
    assert await desk.done(caller, "inbox_ack", until="2999-01-01T00:00:00Z") == {
        "status": "acknowledged", "acknowledged": 0,
    }  # fmt: skip
    await inbox(desk, "ann")
    assert await desk.refused(member(bob), "inbox_ack", until=mine["id"]) == "NOTHING_TO_ACKNOWLEDGE"
    assert await desk.refused(member(bob), "inbox_ack", until=mine["seq"]) == "NOTHING_TO_ACKNOWLEDGE"
    assert await desk.refused(caller, "inbox_ack", until="ms_unknown") == "NOTHING_TO_ACKNOWLEDGE"
    assert await desk.refused(caller, "inbox_ack", until=99) == "NOTHING_TO_ACKNOWLEDGE"
    assert await desk.refused(caller, "inbox_ack", until="tomorrow") == "INVALID_INPUT"
    assert await desk.house.unread(ann) == ["delivered m1"]


async def test_the_person_has_an_inbox(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    assert await desk.done(OPERATOR, "inbox_check") == {"messages": []}
    await desk.done(member(ann), "channel_send", message="@human done")
    found = await desk.done(OPERATOR, "inbox_check")
    assert [one["entry"]["message"] for one in found["messages"]] == ["@human done"]
    assert (await desk.done(OPERATOR, "inbox_ack", until=found["messages"][0]["entry"]["id"]))["acknowledged"] == 1
    assert await desk.done(OPERATOR, "inbox_check") == {"messages": []}


async def test_waits_and_limits_have_bounds(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    for wait in (-1, 50.1, "5", True, None, float("nan"), float("inf")):
        assert await desk.refused(member(ann), "inbox_check", wait_seconds=wait) == "INVALID_INPUT"
    nonsense: list[Json] = [None, [], {}, True, 1.5, -1, 2**80, "", "x" * 300, "-1", "1.5", "9" * 30, "9" * 300, "٣"]
    for until in nonsense:
        assert await desk.refused(member(ann), "inbox_ack", until=until) == "INVALID_INPUT"
