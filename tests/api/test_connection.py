"""What a connection does, the same on both databases."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.errors import NotAllowed
from moot.core.ids import AttemptId, InstanceName
from moot.core.tx import Tx
from moot.registry import instances
from moot.store.store import Store
from moot.tools.talk import Words
from tests.api.desk import as_agent, join, person, say

SECONDS = 20


async def test_replies_are_the_thread_and_what_mentions_the_sender(store: Store, tmp_path: Path) -> None:
    ann, bob = await join(store, "ann"), await join(store, "bob")
    human = person(store, tmp_path)
    sent = await human.send(Words("who knows?", to=("ann", "bob")))
    await say(store, bob, "unrelated")
    await human.send(Words("still waiting", reply_to=sent.message.id))
    await as_agent(store, tmp_path, bob).send(Words("I do", reply_to=sent.message.id))
    await say(store, ann, "me too, @human")
    found: list[str] = []
    async with asyncio.timeout(SECONDS), aclosing(human.replies(sent.message)) as replies:
        async for reply in replies:
            found.append(reply.body)
            if len(found) == 2:
                break
    assert found == ["I do", "me too, @human"]


async def test_the_inbox_holds_unread_and_parked_mail_in_order(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    human = person(store, tmp_path)
    await human.send(Words("first", to=("ann",)))

    def park(tx: Tx) -> None:
        mailbox.hand_out(tx, ann.id, AttemptId("at_1"), 10)
        mailbox.park(tx, ann.id, AttemptId("at_1"))

    await store.write(park, caller=SYSTEM)
    await human.send(Words("second", to=("ann",)))
    found = [(mail.body, mail.state) for mail in await human.inbox("ann")]
    assert found == [("first", "parked"), ("second", "queued")]
    assert [mail.body for mail in await human.inbox("ann", limit=1)] == ["first"]


async def test_only_what_is_handed_in_is_acknowledged(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    human = person(store, tmp_path)
    for body in ("one @human", "two @human"):
        await say(store, ann, body)
    first, second = await human.inbox()
    assert await human.acknowledge([first]) == 1
    assert await human.inbox() == [second]
    assert await human.acknowledge([first]) == 0


async def test_an_observer_changes_nothing(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await person(store, tmp_path).send(Words("hello", to=("ann",)))
    observer = as_agent(store, tmp_path, ann, role="observer")
    with pytest.raises(NotAllowed):
        await observer.send(Words("hello"))
    with pytest.raises(NotAllowed):
        await observer.acknowledge(await observer.inbox())
    assert len(await observer.inbox()) == 1


async def test_members_are_counted_with_their_mail(store: Store, tmp_path: Path) -> None:
    await join(store, "ann", source="team.yaml")
    await join(store, "bob", instance=InstanceName("other"))
    human = person(store, tmp_path)
    await human.send(Words("hello", to=("ann",)))
    found = [
        (one.standing.agent.name, one.standing.source, one.standing.state, one.unread) for one in await human.members()
    ]
    assert found == [("ann", "team.yaml", "idle", 1), ("bob", None, "idle", 0)]
    assert [one.standing.agent.name for one in await human.members(InstanceName("other"))] == ["bob"]


async def test_following_creates_nothing(store: Store, neighbour: Store, tmp_path: Path) -> None:
    later = InstanceName("later")
    watching = person(store, tmp_path, later)

    async def first() -> str:
        async for message in watching.follow():
            return message.body
        return ""

    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
        task = group.create_task(first())
        await asyncio.sleep(0)
        assert await store.read(lambda tx: instances.find(tx, later)) is None
        ann = await join(neighbour, "ann", instance=later)
        await say(neighbour, ann, "here")
    assert task.result() == "here"


async def test_receipts_have_names(store: Store, tmp_path: Path) -> None:
    ann = await join(store, "ann")
    await join(store, "bob")
    sent = await person(store, tmp_path).send(Words("hello", to=("ann", "bob")))
    agent = as_agent(store, tmp_path, ann)
    await agent.acknowledge(await agent.inbox())
    found = {name: receipt.state for name, receipt in await agent.receipts(sent.message)}
    assert found == {"ann": "acked", "bob": "queued"}
