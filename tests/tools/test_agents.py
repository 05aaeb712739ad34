"""The agents tools: joining, signs of life, changing, leaving and seeing who is here."""

import orjson
import pytest

from moot.core import clock as clocks
from moot.core.caller import Caller
from moot.core.ids import InstanceName, TokenId
from moot.core.json import Json
from moot.registry import agents, tokens
from moot.registry.errors import NotAuthenticated
from moot.registry.tokens import Grant
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.tools.desk import DEFAULT, OPERATOR, Desk, member, open_desk


async def join(desk: Desk, name: str, **more: Json) -> str:
    return str((await desk.done(OPERATOR, "agent_register", name=name, runtime="claude_code", **more))["id"])


async def names(desk: Desk, **arguments: Json) -> list[str]:
    return [one["name"] for one in (await desk.done(OPERATOR, "agent_list", **arguments))["agents"]]


async def test_joining_answers_with_a_card(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    answer = await desk.call(
        OPERATOR,
        "agent_register",
        {
            "name": "ann",
            "runtime": "claude_code",
            "role": "builder",
            "capabilities": ["python"],
            "workspace_path": "/w",
            "metadata": {"a": [1, None, {"b": "\0"}]},
        },
    )
    card = orjson.loads(answer.text)
    assert card == {
        "id": card["id"],
        "name": "ann",
        "status": "online",
        "role": "builder",
        "runtime": "claude_code",
        "backend": "external",
        "instance": "default",
        "capabilities": ["python"],
        "workspace_path": "/w",
        "current_task_id": None,
        "last_seen": clocks.to_iso(clock.now()),
        "metadata": {"a": [1, None, {"b": "\0"}]},
    }
    assert answer.structured["id"] == card["id"]
    assert await desk.done(OPERATOR, "agent_get", id=card["id"]) == answer.structured
    agent = await desk.house.read(lambda tx: agents.get(tx, card["id"]))
    assert (agent.role, agent.registered_by) == ("member", OPERATOR.token)


async def test_the_role_argument_grants_nothing(store: Store) -> None:
    desk = await open_desk(store)
    id = await join(desk, "ann", role="operator")
    agent = await desk.house.read(lambda tx: agents.find(tx, desk.house.stream, "ann"))
    assert agent is not None
    assert (agent.id, agent.role, agent.label) == (id, "member", "operator")


async def test_refused_names_and_shapes_join_nobody(store: Store) -> None:
    desk = await open_desk(store)
    for name in ("system", "Human", "all", "a/b", "-x", "@x", "ａｎｎ", "a\u200bnn", "x" * 150):  # noqa: RUF001
        assert await desk.refused(OPERATOR, "agent_register", name=name, runtime="x") == "NAME_REFUSED"
    deep: Json = {}
    for _ in range(400):
        deep = {"a": deep}
    shapes: list[dict[str, Json]] = [
        {"name": "a\0"},
        {"name": "x" * 300},
        {"name": ""},
        {"name": 1},
        {"runtime": "\0"},
        {"runtime": "x" * 501},
        {"capabilities": ["x"] * 101},
        {"capabilities": ["x"] * 1_000_000},
        {"capabilities": [1]},
        {"capabilities": "python"},
        {"workspace_path": "\0"},
        {"workspace_path": "x" * 5000},
        {"metadata": {"a": "x" * 64_001}},
        {"metadata": {"a": float("nan")}},
        {"metadata": {"a": "\ud800"}},
        {"metadata": {"a": 2**64}},
        {"metadata": deep},
        {"metadata": []},
        {"backend": "scripted"},
        {"registered_by": "to_2"},
    ]
    for shape in shapes:
        arguments = {"name": "ann", "runtime": "x", **shape}
        assert await desk.refused(OPERATOR, "agent_register", **arguments) == "INVALID_INPUT", str(shape)[:80]
    assert await names(desk) == []


async def test_the_list_shows_who_is_here_by_presence(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    await join(desk, "ann")
    clock.advance(60)
    bob = await join(desk, "bob")
    clock.advance(1)
    await desk.done(OPERATOR, "agent_heartbeat", agent_id=bob, status="busy")
    clock.advance(30)
    answer = await desk.call(OPERATOR, "agent_list")
    assert [(one["name"], one["status"]) for one in orjson.loads(answer.text)] == [("ann", "offline"), ("bob", "busy")]
    assert await names(desk, status="offline") == ["ann"]
    assert await names(desk, status="busy") == ["bob"]
    assert await names(desk, status="online") == []
    assert await desk.refused(OPERATOR, "agent_list", status="gone") == "INVALID_INPUT"


async def test_a_heartbeat_says_when_the_next_is_due_and_what_waits(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    id = await join(desk, "ann")
    for number in range(120):
        await desk.done(OPERATOR, "channel_send", message=f"@ann {number}")
    before = await desk.house.events()
    clock.advance(100)
    beat = await desk.done(OPERATOR, "agent_heartbeat", agent_id=id, current_task_id="t1")
    assert beat == {"success": True, "next_heartbeat_ms": 30000, "unread": 120}
    card = await desk.done(OPERATOR, "agent_get", id=id)
    assert (card["status"], card["current_task_id"], card["last_seen"]) == (
        "online", "t1", clocks.to_iso(clock.now()),
    )  # fmt: skip
    assert await desk.house.events() == before


async def test_an_agent_changes_what_others_see_of_it(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    card = await desk.done(member(ann), "agent_update", capabilities=["sql"], metadata={"a": 1}, status="busy")
    assert (card["capabilities"], card["metadata"], card["status"]) == (["sql"], {"a": 1}, "busy")
    card = await desk.done(member(ann), "agent_update", workspace_path="/w")
    assert (card["capabilities"], card["workspace_path"]) == (["sql"], "/w")
    assert await desk.refused(member(ann), "agent_update", role="operator") == "INVALID_INPUT"
    assert await desk.refused(member(ann), "agent_update", name="bob") == "INVALID_INPUT"


async def test_who_leaves_takes_mail_and_tokens_along(store: Store) -> None:
    desk = await open_desk(store)
    id = await join(desk, "ann")
    agent = await desk.house.read(lambda tx: agents.named(tx, desk.house.stream, "ann"))
    text = tokens.new_text()
    await desk.house.write(lambda tx: tokens.mint(tx, text, Grant("member", DEFAULT, "member", agent.id)))
    message = await desk.house.post("hello", agent)
    assert await desk.done(OPERATOR, "agent_unregister", id=id) == {"success": True}
    assert await desk.done(OPERATOR, "agent_unregister", id=id) == {"success": False}
    assert await desk.house.states(message) == {agent.id: "dead"}
    with pytest.raises(NotAuthenticated):
        await desk.house.read(lambda tx: tokens.identify(tx, text))
    assert await names(desk) == []
    assert (await desk.done(OPERATOR, "agent_get", id=id))["status"] == "offline"


async def test_nobody_acts_for_an_agent_that_has_left(store: Store) -> None:
    desk = await open_desk(store)
    id = await join(desk, "ann")
    ann = await desk.house.read(lambda tx: agents.named(tx, desk.house.stream, "ann"))
    await desk.done(OPERATOR, "agent_unregister", id=id)
    calls: list[tuple[str, dict[str, Json]]] = [
        ("channel_send", {"message": "from the grave"}),
        ("inbox_check", {}),
        ("inbox_ack", {"until": 1}),
        ("agent_heartbeat", {}),
        ("agent_update", {"status": "busy"}),
    ]
    for tool, arguments in calls:
        assert await desk.refused(OPERATOR, tool, agent_id=id, **arguments) == "AGENT_NOT_FOUND"
        assert await desk.refused(member(ann), tool, **arguments) == "AGENT_NOT_FOUND"
    assert await desk.said() == []


async def test_the_person_cannot_leave(store: Store) -> None:
    desk = await open_desk(store)
    assert await desk.refused(OPERATOR, "agent_unregister") == "INVALID_INPUT"
    await desk.done(OPERATOR, "channel_send", message="hello")
    assert await desk.refused(OPERATOR, "agent_unregister") == "INVALID_INPUT"


async def test_a_member_may_leave_by_itself(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    assert await desk.done(member(ann), "agent_unregister") == {"success": True}


async def test_agents_of_another_instance_are_not_seen(store: Store) -> None:
    desk = await open_desk(store)
    id = await join(desk, "ann")
    elsewhere = Caller("human", "operator", InstanceName("other"), token=TokenId("to_9"))
    assert await desk.refused(elsewhere, "agent_get", id=id) == "AGENT_NOT_FOUND"
    assert await desk.done(elsewhere, "agent_list") == {"agents": []}
    assert await desk.refused(OPERATOR, "agent_get", id="ag_unknown") == "AGENT_NOT_FOUND"


async def test_an_agent_is_found_by_id_and_by_name(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    first = await join(desk, "ann")
    clock.advance(1)
    second = await join(desk, "ann")
    found = [(await desk.done(OPERATOR, "agent_get", id=named))["id"] for named in (first, second, "ann", "ANN")]
    assert found == [first, second, second, second]
    await desk.done(OPERATOR, "agent_unregister", id=second)
    await desk.done(OPERATOR, "agent_unregister", id=first)
    assert await desk.refused(OPERATOR, "agent_get", id="ann") == "AGENT_NOT_FOUND"


async def test_outside_a_run_a_second_of_the_name_joins_and_is_the_one_listed(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    first = await join(desk, "ann")
    clock.advance(1)
    second = await join(desk, "ann")
    assert first != second
    listed = await desk.done(OPERATOR, "agent_list")
    assert [one["id"] for one in listed["agents"]] == [second]
