"""Who listens hears of mentions and of the channel: its own, from now on, for as long as its token holds."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.client.subscriptions import ResourceUpdated
from pydantic import BaseModel, Field

from moot.mcp.server import Address
from tests.mcp import clients
from tests.mcp.clients import DEADLINE, OldSession
from tests.mcp.people import Meeting, Person

MENTION = "notifications/mention"
UPDATED = "notifications/resources/updated"


@asynccontextmanager
async def old(address: Address, person: Person) -> AsyncGenerator[OldSession]:
    async with clients.http(address, person.token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        yield session


async def say(address: Address, person: Person, message: str) -> None:
    async with clients.http(address, person.token) as client:
        answer = await clients.call(client, "channel_send", {"message": message})
        assert not answer["isError"], answer


async def test_a_mentioned_agent_is_told(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session, session.listening() as heard:
        await say(address, ann, "not for bob")
        await say(address, ann, "ping @bob")
        notice = await anext(heard)
    assert notice["method"] == MENTION
    timestamp = notice["params"].pop("timestamp")
    assert timestamp.endswith("Z")
    assert notice["params"] == {"from": "ann", "target": "bob", "message": "ping @bob"}
    assert "id" not in notice


async def test_nobody_hears_what_is_meant_for_another(address: Address, meeting: Meeting) -> None:
    ann, bob, eve = await meeting.join("ann"), await meeting.join("bob"), await meeting.join("eve")
    async with (
        old(address, bob) as his,
        old(address, eve) as hers,
        his.listening() as bobs,
        hers.listening() as eves,
    ):
        await say(address, ann, "a secret for @bob")
        await say(address, ann, "something for @eve")
        assert (await anext(bobs))["params"]["message"] == "a secret for @bob"
        assert (await anext(eves))["params"]["message"] == "something for @eve"


async def test_a_subscriber_hears_that_the_channel_has_changed(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session, session.listening() as heard:
        assert "result" in await session.ask("resources/subscribe", {"uri": "moot://channel"})
        await say(address, ann, "to all and none")
        assert await anext(heard) == {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "moot://channel"}}
        await session.ask("resources/unsubscribe", {"uri": "moot://channel"})
        await say(address, ann, "unheard")
        await say(address, ann, "heard by @bob")
        assert (await anext(heard))["method"] == MENTION


async def test_a_subscription_made_before_the_stream_is_opened_counts(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session:
        await session.ask("resources/subscribe", {"uri": "moot://channel"})
        async with session.listening() as heard:
            await say(address, ann, "hello")
            assert (await anext(heard))["method"] == UPDATED


async def test_other_instances_are_not_heard(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    zoe, far = await meeting.join("zoe", instance="elsewhere"), await meeting.join("ann", instance="elsewhere")
    async with old(address, ann) as session, session.listening() as heard:
        await session.ask("resources/subscribe", {"uri": "moot://channel"})
        await say(address, zoe, "hello @ann")
        await say(address, far, "hello elsewhere")
        await say(address, ann, "hello here")
        assert (await anext(heard))["method"] == UPDATED
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await anext(heard)


async def test_an_operator_hears_for_the_person_and_for_the_agents_it_registered(
    address: Address, meeting: Meeting
) -> None:
    operator, ann = await meeting.operator(), await meeting.join("ann")
    await meeting.join("bob")
    async with old(address, operator) as session, session.listening() as heard:
        await session.ask("tools/call", {"name": "agent_register", "arguments": {"name": "one", "runtime": "t"}})
        await say(address, ann, "@one please")
        await say(address, ann, "for @bob alone")
        await say(address, ann, "@human look")
        assert [(await anext(heard))["params"]["target"] for _ in range(2)] == ["one", "human"]


async def test_a_revoked_token_hears_nothing_more(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session, session.listening() as heard:
        await say(address, ann, "one @bob")
        assert (await anext(heard))["params"]["message"] == "one @bob"
        await meeting.revoke(bob)
        await say(address, ann, "two @bob")
        assert [notice async for notice in heard] == []


async def test_a_long_message_is_cut_in_its_notice(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session, session.listening() as heard:
        await say(address, ann, "@bob " + "x" * 100_000)
        assert len((await anext(heard))["params"]["message"]) == 4001


async def test_a_stream_can_be_opened_again(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session:
        for number in range(3):
            async with asyncio.timeout(DEADLINE), again(session) as heard:
                await say(address, ann, f"{number} @bob")
                assert (await anext(heard))["params"]["message"] == f"{number} @bob"


@asynccontextmanager
async def again(session: OldSession) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
    """The stream, once the server has noticed that the last one is gone."""
    while True:
        async with session.client.stream("GET", "/mcp", headers=session.headers()) as response:
            if response.status_code == 200:
                yield clients.events(response)
                return
            assert response.status_code == 409
            await response.aread()


async def test_a_client_that_asks_to_resume_gets_a_new_stream(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session:
        session.client.headers["Last-Event-ID"] = "5"
        async with session.listening() as heard:
            await say(address, ann, "new @bob")
            assert (await anext(heard))["params"]["message"] == "new @bob"


async def test_the_official_client_hears_of_a_mention_in_a_handshake_session(
    address: Address, meeting: Meeting
) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    heard: asyncio.Queue[Mention] = asyncio.Queue()
    extension = Mentions(heard)
    async with clients.official(address, bob.token, mode="legacy", extensions=[extension]):
        async with asyncio.timeout(DEADLINE):
            while heard.empty():  # the client opens its stream in its own time
                await say(address, ann, "hello @bob")
                await asyncio.sleep(0)
    mention = heard.get_nowait()
    assert (mention.sender, mention.target, mention.message) == ("ann", "bob", "hello @bob")


class Mention(BaseModel):
    sender: str = Field(alias="from")
    target: str
    message: str
    timestamp: str


class Mentions(ClientExtension):
    """How a client of the official SDK receives a notification that MCP does not define."""

    identifier = "example.test/mentions"

    def __init__(self, heard: asyncio.Queue[Mention]) -> None:
        self._heard = heard

    def notifications(self) -> list[NotificationBinding[Any]]:
        return [NotificationBinding(method=MENTION, params_type=Mention, handler=self._heard.put)]


async def test_the_stateless_revision_listens_by_a_request(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with (
        asyncio.timeout(DEADLINE),
        clients.official(address, bob.token) as client,
        client.listen(resource_subscriptions=["moot://channel", "moot://other"]) as subscription,
    ):
        assert subscription.honored.resource_subscriptions == ["moot://channel"]
        await say(address, ann, "hello")
        assert await anext(aiter(subscription)) == ResourceUpdated("moot://channel")


async def test_the_stateless_revision_hears_of_mentions_if_it_asks(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with clients.http(address, bob.token) as client, listening(client, {"mentions": True}) as heard:
        acknowledged = await anext(heard)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"]["notifications"] == {"mentions": True}
        await say(address, ann, "hello @bob")
        notice = await anext(heard)
    assert notice["method"] == MENTION
    assert notice["params"]["from"] == "ann"
    assert notice["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 1}


async def test_the_stateless_revision_hears_only_what_it_asked_for(address: Address, meeting: Meeting) -> None:
    ann, kim = await meeting.join("ann"), await meeting.join("kim", groups=("inbox",))
    wants = {"resourceSubscriptions": ["moot://channel"], "toolsListChanged": True, "mentions": True}
    async with clients.http(address, kim.token) as client, listening(client, wants) as heard:
        assert (await anext(heard))["params"]["notifications"] == {"mentions": True}
        await say(address, ann, "for nobody")
        await say(address, ann, "for @kim")
        assert (await anext(heard))["params"]["message"] == "for @kim"


@asynccontextmanager
async def listening(client: httpx2.AsyncClient, wants: dict[str, Any]) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
    message, headers = clients.stateless("subscriptions/listen", {"notifications": wants})
    async with (
        asyncio.timeout(DEADLINE),
        client.stream("POST", "/mcp", json=message, headers=headers) as response,
    ):
        assert response.status_code == 200
        yield clients.events(response)
