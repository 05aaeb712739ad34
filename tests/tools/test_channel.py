"""The channel tools: saying, reading and looking, and what they refuse."""

from typing import cast

import orjson

from moot.core import clock as clocks
from moot.core.caller import Caller
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.registry import instances
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.tools.desk import OPERATOR, Desk, member, open_desk


async def said(desk: Desk, count: int, clock: ManualClock) -> list[dict[str, Json]]:
    sent: list[dict[str, Json]] = []
    for number in range(1, count + 1):
        clock.advance(1)
        sent.append(await desk.done(OPERATOR, "channel_send", message=f"m{number}"))
    return sent


async def read(desk: Desk, **arguments: Json) -> list[str]:
    return [entry["message"] for entry in (await desk.done(OPERATOR, "channel_read", **arguments))["entries"]]


async def test_sending_answers_sent_and_where_it_went(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    clock.advance(1)
    bob = await desk.house.join("bob")
    arguments: dict[str, Json] = {"message": "@bob and @nobody, look", "to": ["human"]}
    clock.advance(1)
    answer = await desk.call(member(ann), "channel_send", arguments)
    assert answer.text == "sent"
    assert answer.structured == {
        "status": "sent",
        "id": answer.structured["id"],
        "seq": 3,
        "timestamp": clocks.to_iso(clock.now()),
        "recipients": ["bob", "human"],
        "unknown": ["nobody"],
    }
    assert await desk.house.unread(bob) == ["queued @bob and @nobody, look"]


async def test_an_entry_has_the_names_that_everyone_knows(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    clock.advance(1)
    root = await desk.done(OPERATOR, "channel_send", message="urgent: @ann")
    asked_at = clocks.to_iso(clock.now())
    clock.advance(1)
    sent = await desk.done(
        member(ann), "channel_send", message="which?", kind="question", reply_to=root["id"], task_id="t1"
    )
    answer = await desk.call(OPERATOR, "channel_read")
    first, second = orjson.loads(answer.text)
    assert answer.structured == {"entries": [first, second]}
    assert first == {
        "timestamp": asked_at,
        "from": "human",
        "message": "urgent: @ann",
        "mentions": ["ann"],
        "id": root["id"],
        "seq": root["seq"],
        "kind": "message",
        "priority": "high",
        "thread": root["id"],
    }
    assert second == {
        "timestamp": clocks.to_iso(clock.now()),
        "from": "ann",
        "message": "which?",
        "mentions": [],
        "id": sent["id"],
        "seq": sent["seq"],
        "kind": "question",
        "priority": "normal",
        "thread": root["id"],
        "reply_to": root["id"],
        "task_id": "t1",
    }


async def test_reading_keeps_the_last_and_since_is_exclusive(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    sent = await said(desk, 4, clock)
    assert await read(desk) == ["m1", "m2", "m3", "m4"]
    assert await read(desk, limit=2) == ["m3", "m4"]
    for by in ("id", "seq", "timestamp"):
        assert await read(desk, since=sent[1][by]) == ["m3", "m4"]
        assert await read(desk, since=sent[1][by], limit=1) == ["m4"]
        assert await read(desk, since=sent[3][by]) == []
    assert await read(desk, since=0) == ["m1", "m2", "m3", "m4"]
    assert await read(desk, since="2026-01-01") == ["m1", "m2", "m3", "m4"]
    assert await read(desk, since="2026-01-01T11:00:02+02:00") == ["m3", "m4"]


async def test_a_thread_can_be_read_by_itself(store: Store) -> None:
    desk = await open_desk(store)
    root = await desk.done(OPERATOR, "channel_send", message="root")
    await desk.done(OPERATOR, "channel_send", message="aside")
    answer = await desk.done(OPERATOR, "channel_send", message="answer", reply_to=root["id"])
    assert await read(desk, thread=answer["id"]) == ["root", "answer"]
    assert await read(desk, thread=answer["id"], limit=1) == ["answer"]


async def test_peeking_shows_the_last_ten(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    await said(desk, 12, clock)
    peeked = await desk.done(OPERATOR, "channel_peek")
    assert [entry["message"] for entry in peeked["entries"]] == [f"m{number}" for number in range(3, 13)]
    assert [entry["message"] for entry in (await desk.done(OPERATOR, "channel_peek", limit=1))["entries"]] == ["m12"]


async def test_reading_changes_nothing_and_acknowledges_nothing(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    await desk.done(OPERATOR, "channel_send", message="@ann hello")
    before = await desk.house.events()
    await desk.done(member(ann), "channel_read")
    await desk.done(member(ann), "channel_peek")
    assert await desk.house.unread(ann) == ["queued @ann hello"]
    assert await desk.house.events() == before


async def test_reading_a_channel_that_is_not_there_makes_nothing(store: Store) -> None:
    desk = await open_desk(store)
    elsewhere = Caller("human", "operator", InstanceName("other"))
    assert await desk.done(elsewhere, "channel_read") == {"entries": []}
    assert await desk.done(elsewhere, "inbox_check") == {"messages": []}
    assert await desk.done(elsewhere, "agent_list") == {"agents": []}
    assert [one.name for one in await store.read(instances.all_of)] == ["default"]


async def test_what_cannot_be_read_or_said_is_refused_with_a_code(store: Store) -> None:
    desk = await open_desk(store)
    await desk.done(OPERATOR, "channel_send", message="hello")
    refused: list[tuple[str, dict[str, Json], str]] = [
        ("channel_read", {"since": "ms_unknown"}, "MESSAGE_NOT_FOUND"),
        ("channel_read", {"thread": "ms_unknown"}, "MESSAGE_NOT_FOUND"),
        ("channel_read", {"since": "yesterday"}, "INVALID_INPUT"),
        ("channel_read", {"since": ""}, "INVALID_INPUT"),
        ("channel_read", {"since": "ms_\0"}, "INVALID_INPUT"),
        ("channel_read", {"since": -1}, "INVALID_INPUT"),
        ("channel_read", {"since": 2**63}, "INVALID_INPUT"),
        ("channel_read", {"since": True}, "INVALID_INPUT"),
        ("channel_send", {"message": ""}, "MESSAGE_EMPTY"),
        ("channel_send", {"message": " \n"}, "MESSAGE_EMPTY"),
        ("channel_send", {"message": "a\0b"}, "INVALID_INPUT"),
        ("channel_send", {"message": "\ud800"}, "INVALID_INPUT"),
        ("channel_send", {"message": "x" * 1_000_001}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "to": ["nobody"]}, "AGENT_NOT_FOUND"),
        ("channel_send", {"message": "hi", "to": ["a\0"]}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "to": "human"}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "reply_to": "ms_unknown"}, "MESSAGE_NOT_FOUND"),
        ("channel_send", {"message": "hi", "reply_to": "\0"}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "kind": "shout"}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "task_id": "\0"}, "INVALID_INPUT"),
        ("channel_send", {"message": "hi", "agent_id": "ag_unknown"}, "AGENT_NOT_FOUND"),
    ]
    codes = [await desk.refused(OPERATOR, tool, **arguments) for tool, arguments, _ in refused]
    assert codes == [code for _, _, code in refused]
    assert await desk.said() == ["human: hello"]


async def test_searching_finds_messages_and_documents(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    sent = await desk.done(OPERATOR, "channel_send", message="the parser is slow")
    clock.advance(1)
    await desk.done(member(ann), "document_write", content="# Parser\n\nmake it quick", file="notes.md")
    answer = await desk.call(member(ann, "observer"), "channel_search", {"query": "parser"})
    hits = orjson.loads(answer.text)
    assert answer.structured == {"hits": hits}
    at = [hit.pop("timestamp") for hit in hits]
    assert at == [clocks.to_iso(clock.now()), sent["timestamp"]]
    assert hits == [
        {"from": "ann", "snippet": "# Parser make it quick", "file": "notes.md", "version": 1},
        {"from": "human", "snippet": "the parser is slow", "id": sent["id"], "seq": sent["seq"]},
    ]
    only = await desk.done(OPERATOR, "channel_search", query="parser", where="messages", limit=1)
    assert [hit["id"] for hit in only["hits"]] == [sent["id"]]


async def test_searching_is_on_nobodys_record_and_sees_what_is_new(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    trial = await desk.attempt(ann)
    assert (await trial.call("channel_search", query="word")).structured == {"hits": []}
    await desk.done(OPERATOR, "channel_send", message="a word")
    before = await desk.house.events()
    found = (await trial.call("channel_search", query="word")).structured["hits"]
    assert [one["snippet"] for one in cast(list[dict[str, Json]], found)] == ["a word"]
    assert await desk.house.events() == before


async def test_a_search_for_nothing_is_refused(store: Store) -> None:
    desk = await open_desk(store)
    elsewhere = Caller("human", "operator", InstanceName("other"))
    assert await desk.done(elsewhere, "channel_search", query="word") == {"hits": []}
    refused: list[tuple[dict[str, Json], str]] = [
        ({"query": ""}, "NOTHING_WANTED"),
        ({"query": "-word"}, "NOTHING_WANTED"),
        ({"query": "a\0b"}, "INVALID_INPUT"),
        ({"query": "x" * 501}, "INVALID_INPUT"),
        ({"query": "word", "limit": 0}, "INVALID_INPUT"),
        ({"query": "word", "where": "here"}, "INVALID_INPUT"),
    ]
    assert [await desk.refused(OPERATOR, "channel_search", **one) for one, _ in refused] == [
        code for _, code in refused
    ]
