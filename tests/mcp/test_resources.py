"""Documents as resources: listed, read, and told of when they change, to those who may read documents."""

import pytest
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from moot.mcp import resources
from moot.mcp.server import Address
from tests.mcp import clients
from tests.mcp.clients import DEADLINE
from tests.mcp.people import Meeting, Person
from tests.mcp.test_notices import MENTION, UPDATED, asyncio, old, say


async def write(address: Address, person: Person, file: str, content: str) -> None:
    async with clients.http(address, person.token) as client:
        answer = await clients.call(client, "document_write", {"file": file, "content": content})
        assert not answer["isError"], answer


async def read(address: Address, person: Person, uri: str) -> str:
    async with clients.official(address, person.token) as client:
        content = (await client.read_resource(uri)).contents[0]
    assert isinstance(content, TextResourceContents)
    return content.text


async def refused(address: Address, person: Person, uri: str) -> None:
    async with clients.official(address, person.token) as client:
        with pytest.raises(MCPError, match="no resource"):
            await client.read_resource(uri)


async def test_documents_are_resources(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    await write(address, ann, "notes.md", "# Notes")
    await write(address, ann, "a b/größe.txt", "groß")
    async with clients.official(address, ann.token) as client:
        listed = (await client.list_resources()).resources
    assert [(one.uri, one.name, one.mime_type) for one in listed] == [
        ("moot://channel", "channel", "text/markdown"),
        ("moot://documents/a%20b/gr%C3%B6%C3%9Fe.txt", "a b/größe.txt", "text/plain"),
        ("moot://documents/notes.md", "notes.md", "text/markdown"),
    ]
    assert [await read(address, ann, one.uri) for one in listed[1:]] == ["groß", "# Notes"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_there_are_no_templates_of_resources(address: Address, meeting: Meeting, mode: str) -> None:
    ann = await meeting.join("ann")
    async with clients.official(address, ann.token, mode=mode) as client:
        assert (await client.list_resource_templates()).resource_templates == []


@pytest.mark.parametrize(
    "uri",
    [
        "moot://documents/no.md", "moot://documents/", "moot://documents", "moot://documents/../channel",
        "moot://documents/%2e%2e/x", "moot://documents//etc/passwd", "moot://documents/%00", "moot://documents/%ff",
        "moot://documents/.git/config", "MOOT://documents/notes.md",
    ],
)  # fmt: skip
async def test_what_is_no_document_is_no_resource(address: Address, meeting: Meeting, uri: str) -> None:
    ann = await meeting.join("ann")
    await write(address, ann, "notes.md", "x")
    await refused(address, ann, uri)


async def test_documents_of_another_instance_are_not_shown(address: Address, meeting: Meeting) -> None:
    ann, zoe = await meeting.join("ann"), await meeting.join("zoe", instance="elsewhere")
    await write(address, ann, "secret.md", "secret")
    async with clients.official(address, zoe.token) as client:
        assert [one.uri for one in (await client.list_resources()).resources] == ["moot://channel"]
    await refused(address, zoe, "moot://documents/secret.md")


async def test_who_may_not_read_documents_sees_none(address: Address, meeting: Meeting) -> None:
    ann, kim = await meeting.join("ann"), await meeting.join("kim", groups=("channel",))
    await write(address, ann, "notes.md", "x")
    async with clients.official(address, kim.token) as client:
        assert [one.uri for one in (await client.list_resources()).resources] == ["moot://channel"]
    await refused(address, kim, "moot://documents/notes.md")
    async with old(address, kim) as session:
        assert "error" in await session.ask("resources/subscribe", {"uri": "moot://documents/notes.md"})


async def test_a_subscriber_hears_that_its_document_has_changed(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with old(address, bob) as session, session.listening() as heard:
        uri = "moot://documents/Notes.md"
        assert "result" in await session.ask("resources/subscribe", {"uri": uri})
        await write(address, ann, "other.md", "unheard")
        await write(address, ann, "notes.md", "one")
        assert await anext(heard) == {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}}
        await session.ask("resources/unsubscribe", {"uri": uri})
        await write(address, ann, "notes.md", "two")
        await say(address, ann, "hello @bob")
        assert (await anext(heard))["method"] == MENTION


async def test_the_stateless_revision_listens_to_documents(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    wanted = ["moot://documents/notes.md", "moot://documents/../x", "moot://channel"]
    async with (
        asyncio.timeout(DEADLINE),
        clients.official(address, bob.token) as client,
        client.listen(resource_subscriptions=wanted) as subscription,
    ):
        assert subscription.honored.resource_subscriptions == [wanted[0], wanted[2]]
        await write(address, ann, "notes.md", "hello")
        assert await anext(aiter(subscription)) == ResourceUpdated(wanted[0])


def test_the_number_of_subscriptions_has_an_end() -> None:
    wants = resources.Wants()
    for number in range(resources.MOST_SUBSCRIPTIONS + 5):
        resources.subscribe(wants, resources.uri_of(f"{number}.md"))
    assert len(wants.documents) == resources.MOST_SUBSCRIPTIONS
    assert "5.md" in wants.documents
    assert "4.md" not in wants.documents
