"""Agents join, give signs of life, change and leave; a name means one of them."""

from collections.abc import Callable

import pytest

from moot.core.ids import AgentId, StreamId, TokenId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, stopping
from moot.registry.agents import Agent, Changes, NewAgent, Presence
from moot.registry.errors import AgentNotFound, NameRefused, NameTaken
from moot.registry.instances import Instance
from moot.store import streams
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave
from tests.registry.house import House, build


async def register(house: House, name: str) -> Agent:
    return await house.write(lambda tx: agents.register(tx, house.instance, NewAgent(name=name)))


async def a_run(house: House) -> Instance:
    """The same instance, while a run is live."""
    stream = StreamId("wf_1")
    await house.write(lambda tx: streams.create(tx, stream, house.instance.name))
    return Instance(house.instance.name, stream, house.instance.created_at)


async def presence(house: House, agent: Agent) -> Presence:
    return await house.read(lambda tx: agents.get(tx, agent.id).presence(tx.now))


async def test_what_was_said_at_registration_is_kept(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    new = NewAgent(
        name="Coder",
        runtime="claude_code",
        role="reviewer",
        label="worker",
        settings={"a": [1, None]},
        capabilities=("python", "sql"),
        metadata={"k": {"v": True}},
        workspace_path="/tmp/x",
        registered_by=TokenId("to_1"),
    )
    agent = await house.write(lambda tx: agents.register(tx, house.instance, new))
    assert agent == Agent(
        id=agent.id,
        stream=house.stream,
        instance=house.instance.name,
        name="Coder",
        role="reviewer",
        label="worker",
        runtime="claude_code",
        backend="external",
        settings={"a": [1, None]},
        capabilities=("python", "sql"),
        metadata={"k": {"v": True}},
        workspace_path="/tmp/x",
        registered_by=TokenId("to_1"),
        status="online",
        current_task=None,
        seen_at=clock.now(),
        created_at=clock.now(),
        stopped_at=None,
        left_at=None,
    )
    assert [(event.kind, event.subject) for event in await house.events()] == [("agent_registered", agent.id)]


async def test_a_refused_name_registers_nobody(store: Store) -> None:
    house = await build(store)
    for name in ("system", "HUMAN", "a/b", "", "a" * 300, "ａｌｌ", "a\0"):  # noqa: RUF001
        with pytest.raises(NameRefused):
            await register(house, name)
    assert await house.read(lambda tx: agents.members(tx, house.stream)) == []
    assert await house.events() == []


async def test_outside_a_run_a_second_registration_is_another_agent_and_the_newest_is_meant(
    store: Store, clock: ManualClock
) -> None:
    house = await build(store)
    first = await register(house, "coder")
    clock.advance(1)
    second = await register(house, "Coder")
    assert first.id != second.id

    def look(tx: ReadTx) -> tuple[Agent | None, list[Agent], Agent]:
        return agents.find(tx, house.stream, "CODER"), agents.members(tx, house.stream), agents.get(tx, first.id)

    assert await house.read(look) == (second, [second], first)


@pytest.mark.parametrize("backend", ["scripted", "claude", "human"])
async def test_nobody_takes_the_name_and_so_the_mail_of_an_agent_that_moot_runs_or_of_a_person(
    store: Store, backend: str
) -> None:
    house = await build(store)
    coder = await house.write(lambda tx: agents.ensure(tx, house.instance, NewAgent(name="coder", backend=backend)))
    with pytest.raises(NameTaken):
        await register(house, "Coder")
    assert await house.read(lambda tx: agents.find(tx, house.stream, "coder")) == coder
    await house.write(lambda tx: stopping.stop(tx, coder))
    assert (await register(house, "Coder")).id != coder.id


async def test_when_the_newest_leaves_the_one_before_is_meant(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    first = await register(house, "coder")
    clock.advance(1)
    second = await register(house, "coder")
    assert await house.write(lambda tx: agents.unregister(tx, second.id))
    assert await house.read(lambda tx: agents.find(tx, house.stream, "coder")) == first


async def test_in_a_run_names_are_unique(store: Store) -> None:
    house = await build(store)
    run = await a_run(house)
    first = await house.write(lambda tx: agents.register(tx, run, NewAgent(name="coder")))
    with pytest.raises(NameTaken) as taken:
        await house.write(lambda tx: agents.register(tx, run, NewAgent(name="CODER")))
    assert taken.value.code == "NAME_TAKEN"
    assert await house.read(lambda tx: agents.members(tx, run.stream)) == [first]
    await house.write(lambda tx: agents.unregister(tx, first.id))
    again = await house.write(lambda tx: agents.register(tx, run, NewAgent(name="coder")))
    assert again.id != first.id


async def test_an_agent_that_moot_starts_keeps_its_id_and_gets_new_settings(store: Store, clock: ManualClock) -> None:
    house = await build(store)

    async def ensure(script: int) -> Agent:
        new = NewAgent(name="coder", backend="scripted", runtime="scripted", settings={"script": script})
        return await house.write(lambda tx: agents.ensure(tx, house.instance, new))

    first = await ensure(1)
    clock.advance(1)
    second = await ensure(2)
    assert second.id == first.id
    assert (first.settings, second.settings) == ({"script": 1}, {"script": 2})
    assert (second.created_at, second.seen_at) == (first.created_at, clock.now())
    assert second.is_started_by_moot
    assert len(await house.events()) == 1


async def test_the_person_and_the_services_are_known_under_reserved_names(store: Store) -> None:
    house = await build(store)

    def ensure(tx: Tx) -> tuple[Agent, Agent]:
        return agents.person(tx, house.instance), agents.service(tx, house.instance, "system")

    person, service = await house.write(ensure)
    assert await house.write(ensure) == (person, service)
    assert (person.name, person.role, person.backend) == ("human", "operator", "human")
    assert (service.name, service.role, service.backend) == ("system", "system", "service")
    assert not person.is_started_by_moot
    assert not service.is_started_by_moot


async def test_an_agent_from_outside_is_offline_after_90_seconds_of_silence(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await register(house, "ann")
    assert await presence(house, ann) == "online"
    clock.advance(90)
    assert await presence(house, ann) == "online"
    clock.advance(0.000001)
    assert await presence(house, ann) == "offline"
    await house.write(lambda tx: agents.heartbeat(tx, ann.id, status=None, current_task=None))
    assert await presence(house, ann) == "online"


async def test_an_agent_from_outside_that_a_workflow_names_is_offline_until_it_joins(store: Store) -> None:
    house = await build(store)
    expected = NewAgent(name="ben", backend="external")
    ben = await house.write(lambda tx: agents.ensure(tx, house.instance, expected))
    assert await presence(house, ben) == "offline"
    await house.write(lambda tx: agents.ensure(tx, house.instance, expected))
    assert await presence(house, ben) == "offline"  # a second run changes nothing
    await house.write(lambda tx: agents.heartbeat(tx, ben.id, status=None, current_task=None))
    assert await presence(house, ben) == "online"


async def test_an_agent_that_moot_starts_is_here_while_moot_is(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await house.join("ann", backend="scripted")
    clock.advance(1000)
    assert await presence(house, ann) == "online"


async def test_a_heartbeat_says_what_the_agent_does_and_is_no_news(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await register(house, "ann")
    before = await house.events()
    clock.advance(30)
    await house.write(lambda tx: agents.heartbeat(tx, ann.id, status="busy", current_task="t1"))
    clock.advance(30)
    await house.write(lambda tx: agents.heartbeat(tx, ann.id, status=None, current_task=None))
    found = await house.read(lambda tx: agents.get(tx, ann.id))
    assert (found.status, found.current_task, found.seen_at) == ("busy", "t1", clock.now())
    assert await presence(house, ann) == "busy"
    assert await house.events() == before


async def test_only_what_is_given_is_changed(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    ann = await register(house, "ann")
    clock.advance(60)
    changed = await house.write(lambda tx: agents.update(tx, ann.id, Changes(capabilities=("sql",), status="busy")))
    assert (changed.capabilities, changed.status, changed.metadata) == (("sql",), "busy", {})
    changed = await house.write(lambda tx: agents.update(tx, ann.id, Changes(metadata={"a": 1}, workspace_path="/w")))
    assert (changed.capabilities, changed.status) == (("sql",), "busy")
    assert (changed.metadata, changed.workspace_path, changed.seen_at) == ({"a": 1}, "/w", clock.now())
    assert [event.kind for event in await house.events()] == ["agent_registered", "agent_updated", "agent_updated"]


async def test_who_has_left_is_gone_for_good(store: Store) -> None:
    house = await build(store)
    ann = await register(house, "ann")
    assert await house.write(lambda tx: agents.unregister(tx, ann.id))
    assert not await house.write(lambda tx: agents.unregister(tx, ann.id))
    assert await presence(house, ann) == "offline"
    assert await house.read(lambda tx: agents.members(tx, house.stream)) == []
    with pytest.raises(AgentNotFound, match="has left"):
        await house.write(lambda tx: agents.heartbeat(tx, ann.id, status=None, current_task=None))
    with pytest.raises(AgentNotFound, match="has left"):
        await house.write(lambda tx: agents.update(tx, ann.id, Changes(status="busy")))
    assert [event.kind for event in await house.events()] == ["agent_registered", "agent_left"]


async def test_nobody_is_found_under_an_unknown_name_or_id(store: Store) -> None:
    house = await build(store)
    await register(house, "ann")
    assert await house.read(lambda tx: agents.find(tx, house.stream, "bob")) is None
    with pytest.raises(AgentNotFound, match="Here are: ann"):
        await house.read(lambda tx: agents.named(tx, house.stream, "bob"))
    with pytest.raises(AgentNotFound) as missing:
        await house.read(lambda tx: agents.get(tx, AgentId("ag_1")))
    assert missing.value.code == "AGENT_NOT_FOUND"
    with pytest.raises(AgentNotFound):
        await house.write(lambda tx: agents.heartbeat(tx, AgentId("ag_1"), status=None, current_task=None))
    with pytest.raises(AgentNotFound):
        await house.write(lambda tx: agents.unregister(tx, AgentId("ag_1")))


async def test_members_are_of_one_instance_in_the_order_of_joining(store: Store, clock: ManualClock) -> None:
    house, other = await build(store), await build(store, "other")
    for name in ("eve", "ann", "bob"):
        await register(house, name)
        clock.advance(1)
    await register(other, "zoe")
    assert [agent.name for agent in await house.read(lambda tx: agents.members(tx, house.stream))] == [
        "eve",
        "ann",
        "bob",
    ]


async def test_one_of_two_who_want_a_name_at_once_gets_it(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    run = await a_run(house)
    new = NewAgent(name="coder")
    with pytest.raises(NameTaken):
        await interleave(pg_store, lambda tx: agents.register(tx, run, new), lambda tx: agents.register(tx, run, new))
    assert len(await house.read(lambda tx: agents.members(tx, run.stream))) == 1


async def test_two_hosts_that_make_sure_of_an_agent_at_once_mean_the_same(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    new = NewAgent(name="coder", backend="scripted")
    met = await interleave(
        pg_store,
        lambda tx: agents.ensure(tx, house.instance, new),
        lambda tx: agents.ensure(tx, house.instance, new),
    )
    assert met.second_waited
    assert met.first.id == met.second.id
    assert len(await house.events()) == 1


def system(tx: Tx, instance: Instance) -> Agent:
    return agents.service(tx, instance, "system")


@pytest.mark.parametrize("make", [agents.person, system])
async def test_the_person_and_the_services_are_made_known_once(
    pg_store: PostgresStore, make: Callable[[Tx, Instance], Agent]
) -> None:
    house = await build(pg_store)
    met = await interleave(pg_store, lambda tx: make(tx, house.instance), lambda tx: make(tx, house.instance))
    assert met.second_waited
    assert met.first.id == met.second.id
    assert len(await house.events()) == 1


async def test_one_of_two_who_make_an_agent_leave_at_once_has_done_it(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    ann = await house.join("ann")
    met = await interleave(pg_store, lambda tx: agents.unregister(tx, ann.id), lambda tx: agents.unregister(tx, ann.id))
    assert met.second_waited
    assert (met.first, met.second) == (True, False)
    assert [event.kind for event in await house.events()] == ["agent_registered", "agent_left"]
