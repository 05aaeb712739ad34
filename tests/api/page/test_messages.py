"""The conversation is seen in windows, of whatever length it is, and a person takes part in it."""

from typing import Any

import pytest

from moot.bus import mailbox
from moot.core import clock as clocks
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE
from moot.registry import agents, instances
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.api.desk import join, say
from tests.registry.house import House, build
from tests.web.site import Browser


@pytest.fixture
async def house(store: Store) -> House:
    return await build(store)


def bodies(window: Any) -> list[str]:
    return [one["message"] for one in window["messages"]]


async def filled(house: House, clock: ManualClock, count: int) -> None:
    """Messages `1` and so on, a minute apart."""
    for number in range(1, count + 1):
        clock.advance(60)
        await house.post(str(number))


async def test_the_end_is_seen_first_then_what_is_before_and_behind(
    browser: Browser, house: House, clock: ManualClock
) -> None:
    await filled(house, clock, 10)
    last = await browser.get("/api/messages", limit=3)
    assert (bodies(last), last["has_older"], last["has_newer"]) == (["8", "9", "10"], True, False)
    older = await browser.get("/api/messages", limit=6, before=last["messages"][0]["seq"])
    assert (bodies(older), older["has_older"], older["has_newer"]) == (["2", "3", "4", "5", "6", "7"], True, True)
    first = await browser.get("/api/messages", limit=6, before=older["messages"][0]["seq"])
    assert (bodies(first), first["has_older"], first["has_newer"]) == (["1"], False, True)
    newer = await browser.get("/api/messages", limit=4, after=older["messages"][-1]["seq"])
    assert (bodies(newer), newer["has_older"], newer["has_newer"]) == (["8", "9", "10"], True, False)


async def test_one_can_jump_to_a_time(browser: Browser, house: House, clock: ManualClock) -> None:
    start = clock.now()
    await filled(house, clock, 9)
    middle = clocks.to_iso(start.replace(minute=start.minute + 5))
    window = await browser.get("/api/messages", at=middle, limit=3)
    assert (bodies(window), window["has_older"], window["has_newer"]) == (["5", "6", "7"], True, True)
    assert bodies(await browser.get("/api/messages", at="1999-01-01", limit=2)) == ["1", "2"]
    late = await browser.get("/api/messages", at="2999-01-01", limit=2)
    assert (bodies(late), late["has_older"]) == ([], True)


async def test_only_some_kinds_or_one_sender_can_be_wanted(browser: Browser, house: House, store: Store) -> None:
    ann, bob = await join(store, "ann"), await join(store, "bob")
    await say(store, ann, "from ann")
    await say(store, bob, "from bob")
    assert bodies(await browser.get("/api/messages", **{"from": "ann"})) == ["from ann"]
    assert bodies(await browser.get("/api/messages", kinds="question,status")) == []
    assert bodies(await browser.get("/api/messages", kinds="message,status")) == ["from ann", "from bob"]
    assert await browser.refused("/api/messages", kinds="chatter") == (400, "INVALID_INPUT")


async def test_a_message_tells_how_far_it_has_come_with_everybody(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    await join(store, "bob")
    sent = await browser.post("/api/messages", {"message": "@ann and @bob, look"})
    assert (sent["recipients"], sent["told"]) == (["ann", "bob"], "sent to ann, bob")
    seq = sent["message"]["seq"]
    await store.write(lambda tx: mailbox.ack_one(tx, ann.id, seq), caller=SYSTEM)
    found = await browser.get(f"/api/messages/{sent['message']['id']}")
    assert {one["agent"]: one["state"] for one in found["receipts"]} == {"ann": "acked", "bob": "queued"}
    assert await browser.refused("/api/messages/ms_none") == (404, "MESSAGE_NOT_FOUND")


async def test_a_thread_is_seen_from_any_of_its_messages(browser: Browser, store: Store) -> None:
    await join(store, "ann")
    first = (await browser.post("/api/messages", {"message": "@ann one"}))["message"]
    await browser.post("/api/messages", {"message": "@ann another"})
    reply = (await browser.post("/api/messages", {"message": "@ann two", "reply_to": first["id"]}))["message"]
    for id in (first["id"], reply["id"]):
        assert bodies(await browser.get(f"/api/threads/{id}")) == ["@ann one", "@ann two"]


async def test_messages_and_documents_are_found_by_their_words(browser: Browser, store: Store) -> None:
    await join(store, "ann")
    await browser.post("/api/messages", {"message": "@ann the heron stands"})
    await browser.post("/api/document", {"file": "birds.md", "content": "a heron flies", "base": 0})
    found = (await browser.get("/api/search", words="heron"))["found"]
    assert sorted(one.get("file") or one["from"] for one in found) == ["birds.md", "human"]
    assert len((await browser.get("/api/search", words="heron", where="messages"))["found"]) == 1
    assert await browser.refused("/api/search", words="heron", where="nowhere") == (400, "INVALID_INPUT")


async def test_everybody_who_can_be_mentioned_is_named(browser: Browser, store: Store) -> None:
    assert (await browser.get("/api/people"))["names"] == []
    await join(store, "ann")
    await browser.post("/api/messages", {"message": "@ann hello"})
    names = {one["name"]: one["kind"] for one in (await browser.get("/api/people"))["names"]}
    assert names == {"ann": "agent", "human": "person", "all": "everyone"}


async def test_who_is_addressed_can_be_said_apart(browser: Browser, store: Store) -> None:
    await join(store, "ann")
    await join(store, "bob")
    assert (await browser.post("/api/messages", {"message": "hello", "to": ["bob"]}))["recipients"] == ["bob"]
    assert await browser.refused("/api/messages", {"message": "hello", "to": ["eve"]}) == (404, "AGENT_NOT_FOUND")
    unknown = await browser.post("/api/messages", {"message": "@ann and @eve"})
    assert unknown["unknown"] == ["eve"]


async def test_mail_of_the_person_is_put_away_by_the_person(browser: Browser, store: Store) -> None:
    ann = await join(store, "ann")
    said = await say(store, ann, "@human look at this")
    (mail,) = (await browser.get("/api/overview"))["needs"]["mail"]
    assert (mail["message"], mail["instance"], mail["state"]) == ("@human look at this", "default", "queued")
    assert await browser.post("/api/mail/ack", {"ids": [said.message.id]}) == {"acknowledged": 1}
    assert (await browser.get("/api/overview"))["needs"]["mail"] == []
    assert await browser.post("/api/mail/ack", {"ids": [said.message.id]}) == {"acknowledged": 0}

    def unread(tx: Any) -> int:
        instance = instances.get(tx, DEFAULT_INSTANCE)
        person = agents.find(tx, instance.stream, agents.PERSON)
        assert person is not None
        return mailbox.count_unread(tx, person.id)

    assert await store.read(unread) == 0
