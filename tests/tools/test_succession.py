"""Who registers under a name takes over from those whom nobody speaks for, and their mail is not lost."""

from datetime import timedelta

import pytest

from moot.bus import mailbox
from moot.core.ids import AgentId, InstanceName, StreamId, TokenId
from moot.core.tx import Tx
from moot.registry import agents, instances, tokens
from moot.registry.agents import FORSAKEN_AFTER, Agent, NewAgent
from moot.registry.errors import NameTaken
from moot.registry.instances import Instance
from moot.registry.tokens import Grant
from moot.store import streams
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from moot.tools import succession
from tests.interleave import interleave
from tests.registry.house import House, build, posted

DEFAULT = InstanceName("default")


async def session(house: House, *, lasts: timedelta | None = None) -> TokenId:
    """The operator token of one `moot mcp`."""
    grant = Grant("operator", DEFAULT, "operator", lasts=lasts)
    return await house.write(lambda tx: tokens.mint(tx, tokens.new_text(), grant))


async def join(house: House, token: TokenId, name: str = "ann", instance: Instance | None = None) -> Agent:
    new = NewAgent(name=name, registered_by=token)
    return await house.write(lambda tx: succession.join(tx, instance or house.instance, new))


async def end(house: House, token: TokenId) -> None:
    await house.write(lambda tx: succession.revoke(tx, token))


async def bearers(house: House, *all_of: Agent) -> list[AgentId]:
    """Those who have not left."""
    found = [await house.read(lambda tx, id=one.id: agents.get(tx, id)) for one in all_of]
    return [one.id for one in found if one.left_at is None]


async def test_a_session_that_registers_again_replaces_the_one_before(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    seen: list[Agent] = []
    for _ in range(4):
        token = await session(house)
        seen.append(await join(house, token))
        await end(house, token)
        clock.advance(60)
    assert await bearers(house, *seen) == [seen[-1].id]
    assert [event.subject for event in await house.events() if event.kind == "agent_left"] == [
        agent.id for agent in seen[:-1]
    ]


async def test_unread_mail_waits_for_who_takes_over(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    token = await session(house)
    first = await join(house, token)
    read, shown, new = [await house.post(body, first) for body in ("read", "shown", "new")]
    await house.write(lambda tx: mailbox.show(tx, first.id, None, 2))
    await house.write(lambda tx: mailbox.ack_named(tx, first.id, read.id))
    await end(house, token)
    assert await house.unread(first) == ["delivered shown", "queued new"]
    clock.advance(1)
    second = await join(house, await session(house))
    assert await house.unread(second) == ["queued shown", "queued new"]
    assert await house.unread(first) == []
    states = [await house.states(message) for message in (read, shown, new)]
    assert states == [{first.id: "acked"}, {second.id: "queued"}, {second.id: "queued"}]


async def test_a_message_that_the_heir_has_already_is_not_given_twice(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    token = await session(house)
    first = await join(house, token)
    clock.advance(1)
    second = await join(house, await session(house))
    both = await house.post("for both", first, second)
    await end(house, token)
    assert await house.states(both) == {first.id: "dead", second.id: "queued"}


async def test_who_has_a_living_token_stays(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    first = await join(house, await session(house))
    clock.advance(1)
    second = await join(house, await session(house))
    assert await bearers(house, first, second) == [first.id, second.id]


async def test_who_has_a_token_of_its_own_stays_when_the_one_that_registered_it_dies(
    store: Store, clock: ManualClock
) -> None:
    house = await build(store)
    token = await session(house)
    first = await join(house, token)
    own = Grant("member", DEFAULT, "member", first.id)
    await house.write(lambda tx: tokens.mint(tx, tokens.new_text(), own))
    await end(house, token)
    clock.advance(1)
    second = await join(house, await session(house))
    assert await bearers(house, first, second) == [first.id, second.id]


async def test_who_was_silent_for_long_leaves_though_its_token_lives(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    silent, alive = await join(house, await session(house)), await join(house, await session(house))
    clock.advance(FORSAKEN_AFTER.total_seconds())
    await house.write(lambda tx: agents.heartbeat(tx, alive.id, status=None, current_task=None))
    newest = await join(house, await session(house))
    assert await bearers(house, silent, alive, newest) == [alive.id, newest.id]


async def test_an_expired_token_speaks_for_nobody(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    first = await join(house, await session(house, lasts=timedelta(minutes=1)))
    clock.advance(61)
    second = await join(house, await session(house))
    assert await bearers(house, first, second) == [second.id]


async def test_who_was_replaced_while_it_lived_leaves_when_its_token_dies(store: Store, clock: ManualClock) -> None:
    """A client that was killed registers again before anybody has noticed that it is gone."""
    house = await build(store)
    token = await session(house)
    first = await join(house, token)
    message = await house.post("hello", first)
    clock.advance(1)
    second = await join(house, await session(house))
    assert await house.unread(second) == []
    await end(house, token)
    assert await bearers(house, first, second) == [second.id]
    assert await house.states(message) == {second.id: "queued"}


async def test_the_only_bearer_of_a_name_stops_with_its_token_and_keeps_its_mail(store: Store) -> None:
    house = await build(store)
    token = await session(house)
    ann = await join(house, token)
    await house.post("hello", ann)
    await end(house, token)
    found = await house.read(lambda tx: agents.named(tx, house.stream, "ann"))
    assert (found.id, found.left_at is None, found.stopped_at is not None) == (ann.id, True, True)
    assert await house.unread(ann) == ["queued hello"]


async def test_others_of_another_name_or_backend_are_left_alone(store: Store, clock: ManualClock) -> None:
    house = await build(store)
    token = await session(house)
    bob, started = await join(house, token, "bob"), await house.join("runner", "scripted")
    await end(house, token)
    clock.advance(FORSAKEN_AFTER.total_seconds())
    await join(house, await session(house), "ann")
    with pytest.raises(NameTaken):
        await join(house, await session(house), "runner")
    assert await bearers(house, bob, started) == [bob.id, started.id]


async def test_in_a_run_a_name_is_free_again_when_nobody_speaks_for_its_bearer(store: Store) -> None:
    house = await build(store)
    run = Instance(house.instance.name, StreamId("wf_1"), house.instance.created_at)
    await house.write(lambda tx: streams.create(tx, run.stream, run.name))
    token = await session(house)
    first = await join(house, token, instance=run)
    with pytest.raises(NameTaken):
        await join(house, await session(house), instance=run)
    await end(house, token)
    second = await join(house, await session(house), instance=run)
    assert await bearers(house, first, second) == [second.id]


async def test_mail_on_its_way_to_who_is_being_replaced_ends_as_dead(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    token = await session(house)
    first = await join(house, token)
    await house.write(lambda tx: tokens.revoke(tx, token))
    new = NewAgent(name="ann")

    def replace(tx: Tx) -> Agent:
        return succession.join(tx, instances.get(tx, DEFAULT), new)

    met = await interleave(pg_store, replace, lambda tx: posted(tx, house.stream, "late", [first]))
    assert met.second_waited
    assert await house.states(met.second) == {first.id: "dead"}
