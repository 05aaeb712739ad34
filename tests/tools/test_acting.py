"""Whom a call acts for: itself, or for an operator the person and the agents it registered."""

from moot.core.caller import Caller
from moot.core.ids import TokenId
from moot.core.json import Json
from moot.store.store import Store
from tests.tools.desk import DEFAULT, OPERATOR, member, open_desk

STRANGER = Caller("human", "operator", DEFAULT, token=TokenId("to_2"))
NAMELESS = Caller("human", "operator", DEFAULT)
CALLS: list[tuple[str, dict[str, Json]]] = [
    ("channel_send", {"message": "hello"}),
    ("inbox_check", {}),
    ("inbox_ack", {"until": "2026-01-01"}),
    ("agent_heartbeat", {}),
    ("agent_update", {"status": "busy"}),
]


async def test_a_member_acts_for_itself_named_or_not(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    for tool, arguments in CALLS:
        await desk.done(member(ann), tool, **arguments)
        await desk.done(member(ann), tool, agent_id=ann.id, **arguments)
    assert await desk.said() == ["ann: hello", "ann: hello"]


async def test_a_member_cannot_act_for_another(store: Store) -> None:
    desk = await open_desk(store)
    ann, bob = await desk.house.join("ann"), await desk.house.join("bob")
    for tool, arguments in CALLS:
        assert await desk.refused(member(ann), tool, agent_id=bob.id, **arguments) == "NOT_ALLOWED"
        assert await desk.refused(member(ann, "lead"), tool, agent_id=bob.id, **arguments) == "NOT_ALLOWED"
        assert await desk.refused(member(ann), tool, agent_id="ag_unknown", **arguments) == "AGENT_NOT_FOUND"
    assert await desk.refused(member(ann), "agent_unregister", id=bob.id) == "NOT_ALLOWED"
    assert await desk.said() == []


async def test_an_operator_acts_for_the_agents_it_registered(store: Store) -> None:
    desk = await open_desk(store)
    ann = (await desk.done(OPERATOR, "agent_register", name="ann", runtime="x"))["id"]
    for tool, arguments in CALLS:
        await desk.done(OPERATOR, tool, agent_id=ann, **arguments)
    assert await desk.said() == ["ann: hello"]


async def test_an_operator_cannot_act_for_agents_of_others(store: Store) -> None:
    desk = await open_desk(store)
    registered = (await desk.done(OPERATOR, "agent_register", name="ann", runtime="x"))["id"]
    started = (await desk.house.join("bob", backend="scripted")).id
    for id in (registered, started):
        for tool, arguments in CALLS:
            assert await desk.refused(STRANGER, tool, agent_id=id, **arguments) == "NOT_ALLOWED"
            assert await desk.refused(NAMELESS, tool, agent_id=id, **arguments) == "NOT_ALLOWED"
        assert await desk.refused(STRANGER, "agent_unregister", id=id) == "NOT_ALLOWED"
    assert await desk.said() == []


async def test_an_operator_that_names_nobody_is_the_person(store: Store) -> None:
    desk = await open_desk(store)
    await desk.done(STRANGER, "channel_send", message="hello")
    await desk.done(OPERATOR, "channel_send", message="hello")
    assert await desk.said() == ["human: hello", "human: hello"]
