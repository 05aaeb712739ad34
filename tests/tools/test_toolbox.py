"""The tools of an attempt: what it says is said once, however often the delivery is attempted."""

import asyncio
from typing import cast

from moot.bus import mailbox
from moot.core.json import Json
from moot.ledger import operations
from moot.store.store import Store
from tests.tools.desk import open_desk


async def test_a_second_attempt_says_nothing_twice(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    first = await desk.attempt(ann, fence=1)
    said = [await first.call("channel_send", message="hello") for _ in range(2)]
    assert said[0].structured["seq"] != said[1].structured["seq"]
    await desk.lose(first)

    second = await desk.attempt(ann, fence=2)
    assert [await second.call("channel_send", message="hello") for _ in range(2)] == said
    assert await desk.said() == ["ann: hello"] * 2
    third_time = await second.call("channel_send", message="hello")
    assert third_time.structured["seq"] not in [answer.structured["seq"] for answer in said]
    assert await desk.said() == ["ann: hello"] * 3


async def test_two_attempts_that_say_the_same_at_once_say_it_once(store: Store, neighbour: Store) -> None:
    """An attempt that was given up still runs, on another host, when the next one starts."""
    desk, there = await open_desk(store), await open_desk(neighbour)
    ann = await desk.house.join("ann")
    first, second = await desk.attempt(ann, fence=1), await there.attempt(ann, fence=2)
    for number in range(10):
        answers = await asyncio.gather(*(trial.call("channel_send", message=f"m{number}") for trial in (first, second)))
        assert answers[0] == answers[1]
        assert not answers[0].is_error
    assert await desk.said() == [f"ann: m{number}" for number in range(10)]


async def test_a_second_attempt_that_says_something_else_is_heard(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    await (await desk.attempt(ann, fence=1)).call("channel_send", message="one")
    await (await desk.attempt(ann, fence=2)).call("channel_send", message="two")
    assert await desk.said() == ["ann: one", "ann: two"]


async def test_another_delivery_says_the_same_again(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    for job in ("jb_1", "jb_2"):
        await (await desk.attempt(ann, job)).call("channel_send", message="hello")
    assert await desk.said() == ["ann: hello"] * 2


async def test_a_second_attempt_gets_its_mail_though_the_first_had_asked(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    message = await desk.house.post("hello", ann)
    first = await desk.attempt(ann, fence=1)
    await first.call("inbox_check")
    await desk.lose(first)
    second = await desk.attempt(ann, fence=2)
    answer = await second.call("inbox_check")
    assert len(cast(list[Json], answer.structured["messages"])) == 1
    assert await desk.house.write(lambda tx: mailbox.ack_attempt(tx, ann.id, second.id)) == 1
    assert await desk.house.states(message) == {ann.id: "acked"}


async def test_an_ended_attempt_is_refused_and_changes_nothing(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    message = await desk.house.post("hello", ann)
    trial = await desk.attempt(ann)
    await desk.lose(trial)
    before = await desk.house.events()
    calls: list[tuple[str, dict[str, Json]]] = [
        ("channel_send", {"message": "too late"}),
        ("inbox_check", {}),
        ("inbox_ack", {"until": "2999-01-01"}),
        ("agent_heartbeat", {}),
        ("agent_update", {"status": "busy"}),
        ("agent_unregister", {}),
    ]
    assert [await trial.refused(tool, **arguments) for tool, arguments in calls] == ["ATTEMPT_ENDED"] * 6
    assert await desk.house.events() == before
    assert await desk.house.states(message) == {ann.id: "queued"}
    assert await desk.house.read(lambda tx: operations.of_attempt(tx, trial.id)) == []


async def test_an_ended_attempt_does_not_even_hear_its_old_answers(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    first = await desk.attempt(ann, fence=1)
    await first.call("channel_send", message="hello")
    await desk.lose(first)
    copy = await desk.attempt(ann, fence=2)
    await desk.lose(copy)
    assert await copy.refused("channel_send", message="hello") == "ATTEMPT_ENDED"


async def test_arguments_that_are_not_json_are_refused_and_do_not_raise(store: Store) -> None:
    desk = await open_desk(store)
    trial = await desk.attempt(await desk.house.join("ann"))
    nonsense: list[Json] = ["\ud800", float("nan"), 2**70]
    for message in nonsense:
        assert await trial.refused("channel_send", message=message) == "INVALID_INPUT"
    assert await trial.refused("nonsense") == "TOOL_NOT_FOUND"
    assert await desk.said() == []


async def test_what_an_attempt_did_is_recorded_without_what_it_said(store: Store) -> None:
    desk = await open_desk(store)
    trial = await desk.attempt(await desk.house.join("ann"))
    await trial.call("channel_send", message="hunter2")
    await trial.call("channel_read")
    (done,) = await desk.house.read(lambda tx: operations.of_attempt(tx, trial.id))
    assert (done.kind, done.name, done.actor, done.state) == ("tool", "channel_send", "ann", "done")
    assert "hunter2" not in done.arguments
    assert "hunter2" not in (done.result or "")
