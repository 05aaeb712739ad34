"""Who calls is proven by the token of each request, and by nothing else."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.core.tx import Tx
from moot.mcp import server
from moot.mcp.server import Address, Endpoints, Options
from moot.registry import agents, attempts, instances
from moot.registry.agents import NewAgent
from moot.registry.runs import NewRun, Run
from moot.runner import phases
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Context, Workflow
from tests.mcp import clients
from tests.mcp.clients import OldSession
from tests.mcp.people import DEFAULT, Meeting, Person


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    """On each of the two databases: what calls at the same time do to each other is decided there."""
    return open_store()


async def is_turned_away(client: httpx2.AsyncClient, **headers: str) -> bool:
    """Whether both revisions get 401, with the reason in moot's own words."""
    message, repeated = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "in"}})
    answers = [
        await client.post("/mcp", json=message, headers={**repeated, **headers}),
        await client.post("/mcp", json=clients.request("initialize"), headers=headers),
        await client.get("/mcp", headers={"Mcp-Session-Id": "x", **headers}),
        await client.delete("/mcp", headers={"Mcp-Session-Id": "x", **headers}),
    ]
    for answer in answers:
        if answer.status_code != 401:
            return False
        assert answer.headers["www-authenticate"] == "Bearer"
        error = answer.json()["error"]
        assert error["code"] == "NOT_AUTHENTICATED"
        assert error["message"]
        assert error["remedy"]
    return True


GARBAGE = [
    "",
    "Bearer",
    "Bearer nonsense",
    "Bearer moot_" + "A" * 43,
    "Bearer " + "x" * 10_000,
    "Basic bW9vdDptb290",
    "bearer",
    "Bearer \xff\xfe",
    "Token {token}",
    "{token}",
    "Bearer {token}x",
    "Bearer x {token}",
]


@pytest.mark.parametrize("value", GARBAGE)
async def test_what_is_not_a_token_is_turned_away(address: Address, meeting: Meeting, value: str) -> None:
    ann = await meeting.join("ann")
    header = value.format(token=ann.token)
    async with clients.http(address, None) as client:
        assert await is_turned_away(client, Authorization=header.encode("latin-1"))  # pyright: ignore[reportArgumentType]
    assert await meeting.said() == []


async def test_no_token_is_turned_away(address: Address, meeting: Meeting) -> None:
    await meeting.join("ann")
    async with clients.http(address, None) as client:
        assert await is_turned_away(client)


async def test_a_token_in_the_address_is_not_looked_at(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    message, headers = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "in"}})
    async with clients.http(address, None) as client:
        for query in (f"token={ann.token}", f"access_token={ann.token}", f"Authorization=Bearer%20{ann.token}"):
            response = await client.post(f"/mcp?{query}", json=message, headers=headers)
            assert response.status_code == 401
        body = await client.post("/mcp", json={**message, "token": ann.token}, headers=headers)
        assert body.status_code == 401
    assert await meeting.said() == []


async def test_a_revoked_token_is_turned_away_at_the_next_request(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        session = OldSession(client, "2025-06-18")
        await session.open()
        await meeting.revoke(ann)
        assert await is_turned_away(client)
        assert await is_turned_away(client, **session.headers())


async def test_an_expired_token_is_turned_away(address: Address, meeting: Meeting, clock: ManualClock) -> None:
    ann = await meeting.join("ann", lasts=timedelta(minutes=5))
    async with clients.http(address, ann.token) as client:
        await clients.call(client, "channel_send", {"message": "in time"})
        clock.advance(301)
        assert await is_turned_away(client)
    assert await meeting.said() == [("ann", "in time")]


async def test_an_ended_attempt_is_turned_away(address: Address, meeting: Meeting) -> None:
    bot = await meeting.attempt("bot")
    attempt = bot.attempt
    assert attempt is not None
    async with clients.http(address, bot.token) as client:
        await clients.call(client, "channel_send", {"message": "working"})
        await meeting.store.write(lambda tx: attempts.end(tx, attempt, "lost"), caller=SYSTEM)
        assert await is_turned_away(client)
    assert await meeting.said() == [("bot", "working")]


async def test_an_agent_that_has_left_is_turned_away(address: Address, meeting: Meeting) -> None:
    ann = await meeting.join("ann")
    async with clients.http(address, ann.token) as client:
        await meeting.store.write(lambda tx: agents.unregister(tx, ann.agent), caller=SYSTEM)
        assert await is_turned_away(client)


async def test_a_name_alone_is_turned_away(address: Address, meeting: Meeting) -> None:
    await meeting.join("ann")
    async with clients.http(address, None) as client:
        for name in ("ann", "ann@default", "human", "system", ""):
            assert await is_turned_away(client, **{"X-Agent-Id": name})


async def test_a_token_with_another_agents_name_is_refused(address: Address, meeting: Meeting) -> None:
    ann, _ = await meeting.join("ann"), await meeting.join("bob")
    message, headers = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "x"}})
    async with clients.http(address, ann.token) as client:
        for name in ("bob", "ann@elsewhere", "Ann", "human"):
            response = await client.post("/mcp", json=message, headers={**headers, "X-Agent-Id": name})
            assert response.status_code == 403
            assert response.json()["error"]["code"] == "NAME_MISMATCH"
        own = await client.post("/mcp", json=message, headers={**headers, "X-Agent-Id": "ann@default"})
        assert own.status_code == 200
    assert await meeting.said() == [("ann", "x")]


async def test_two_tokens_in_one_request_are_refused(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    message, repeated = clients.stateless("tools/call", {"name": "channel_send", "arguments": {"message": "x"}})
    async with clients.http(address, None) as client:
        headers = [*repeated.items(), *(("Authorization", f"Bearer {who.token}") for who in (ann, bob))]
        response = await client.post("/mcp", json=message, headers=headers)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "BAD_REQUEST"
    assert await meeting.said() == []


async def test_calls_at_the_same_time_are_each_made_as_their_own_caller(address: Address, meeting: Meeting) -> None:
    people = [await meeting.join(f"agent{number}") for number in range(8)]

    async def speak(person: Person) -> None:
        async with clients.http(address, person.token) as client, asyncio.TaskGroup() as group:
            session = OldSession(client, "2025-06-18")
            await session.open()
            for number in range(5):
                arguments = {"name": "channel_send", "arguments": {"message": person.name}}
                group.create_task(session.ask("tools/call", arguments, number + 1))
                group.create_task(clients.call(client, "channel_send", {"message": person.name}))

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for person in people:
            group.create_task(speak(person))
    said = await meeting.said()
    assert len(said) == 80
    assert [body for _, body in said] == [sender for sender, _ in said]


async def test_a_session_cannot_be_used_with_another_agents_token(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with clients.http(address, ann.token) as hers, clients.http(address, bob.token) as his:
        session = OldSession(hers, "2025-06-18")
        await session.open()
        call = clients.request("tools/call", {"name": "channel_send", "arguments": {"message": "as ann?"}})
        for response in (
            await his.post("/mcp", json=call, headers=session.headers()),
            await his.get("/mcp", headers=session.headers()),
            await his.delete("/mcp", headers=session.headers()),
        ):
            assert response.status_code == 404
        answer = await session.ask("tools/call", {"name": "channel_send", "arguments": {"message": "still here"}})
        assert "error" not in answer
    assert await meeting.said() == [("ann", "still here")]


async def test_an_agent_cannot_act_for_another_by_argument(address: Address, meeting: Meeting) -> None:
    ann, bob = await meeting.join("ann"), await meeting.join("bob")
    async with clients.http(address, ann.token) as client:
        refused = await clients.call(client, "channel_send", {"message": "I am bob", "agent_id": bob.agent})
    assert refused["structuredContent"]["error"]["code"] == "NOT_ALLOWED"
    assert await meeting.said() == []


async def test_who_is_here_already_has_nothing_to_share_in_a_run_without_a_context(
    address: Address, meeting: Meeting
) -> None:
    ann = await meeting.join("ann", groups=("channel", "inbox"))
    unshared = Workflow("alone", "alone.yaml", (AgentDefinition("bob", "scripted"),), context=Context(is_on=False))
    new = NewRun(unshared.name, unshared.file, "run", stored.to_json(unshared), {}, HostId("ho_1"))

    def launch(tx: Tx) -> Run:
        return phases.launch(tx, instances.get(tx, DEFAULT), new, [NewAgent("bob", backend="scripted")])

    async with clients.http(address, ann.token) as client:
        before = (await clients.ask(client, "tools/list")).json()["result"]["tools"]
        run = await meeting.store.write(launch, caller=SYSTEM)
        meanwhile = (await clients.ask(client, "tools/list")).json()["result"]["tools"]
        refused = await clients.call(client, "channel_send", {"message": "@bob hello"})
        await meeting.store.write(lambda tx: phases.close(tx, run.id, "stopped", "stopped"), caller=SYSTEM)
        after = (await clients.ask(client, "tools/list")).json()["result"]["tools"]
    assert {one["name"] for one in meanwhile} == {"inbox_check", "inbox_ack"}
    assert refused["structuredContent"]["error"]["code"] == "NOT_ALLOWED"
    assert before == after
    assert "channel_send" in {one["name"] for one in after}


async def test_an_operator_speaks_for_the_agents_it_registered(address: Address, meeting: Meeting) -> None:
    operator, bob = await meeting.operator(), await meeting.join("bob")
    async with clients.http(address, operator.token) as client:
        one = await clients.call(client, "agent_register", {"name": "one", "runtime": "test"})
        id = one["structuredContent"]["id"]
        await clients.call(client, "channel_send", {"message": "hello", "agent_id": id})
        refused = await clients.call(client, "channel_send", {"message": "as bob", "agent_id": bob.agent})
    assert refused["isError"]
    assert await meeting.said() == [("one", "hello")]


@pytest.mark.parametrize(
    "name", ["system", "human", "orchestrator", "all", "hu\u200bman", "\uff53ystem", "a/b", "-x", "@a"]
)
async def test_nobody_can_register_under_a_reserved_or_misleading_name(
    address: Address, meeting: Meeting, name: str
) -> None:
    operator = await meeting.operator()
    async with clients.http(address, operator.token) as client:
        refused = await clients.call(client, "agent_register", {"name": name, "runtime": "test"})
    assert refused["structuredContent"]["error"]["code"] == "NAME_REFUSED"


async def test_a_host_that_trusts_names_takes_them_as_members(store: Store, tmp_path: Path) -> None:
    meeting = Meeting(store)
    await meeting.join("ann")
    await meeting.join("eve", role="observer")
    await meeting.join("lea", role="lead")
    await meeting.join("zoe", instance="elsewhere")
    await meeting.operator()
    options = Options(trust_agent_header=True)
    async with server.serving(store, Endpoints(tmp_path / "trusting.sock"), options) as address:
        for over in ("unix", "tcp"):
            async with clients.http(address, None, over) as client:
                for name, sender in (("ann", "ann"), ("lea@default", "lea")):
                    client.headers["X-Agent-Id"] = name
                    await clients.call(client, "channel_send", {"message": sender})
                    refused = await clients.call(client, "agent_register", {"name": "x", "runtime": "y"})
                    assert refused["structuredContent"]["error"]["code"] == "NOT_ALLOWED"
                client.headers["X-Agent-Id"] = "eve"
                assert (await clients.call(client, "channel_send", {"message": "x"}))["isError"]
                for name in ("human", "system", "nobody", "zoe", "ann@elsewhere", "ann@", "", "@default"):
                    client.headers["X-Agent-Id"] = name
                    assert await is_turned_away(client)
    assert await meeting.said() == [("ann", "ann"), ("lea", "lea")] * 2


async def test_a_bad_token_is_not_excused_by_a_trusted_name(store: Store, tmp_path: Path) -> None:
    await Meeting(store).join("ann")
    options = Options(trust_agent_header=True)
    async with (
        server.serving(store, Endpoints(tmp_path / "trusting.sock"), options) as address,
        clients.http(address, None) as client,
    ):
        for proof in ("Bearer nonsense", "Bearer", "Basic YW5uOmFubg=="):
            assert await is_turned_away(client, Authorization=proof, **{"X-Agent-Id": "ann"})
