"""What a tool does beyond the store is on record before and after, and never repeated blindly."""

import asyncio

import pytest

from moot.core.caller import SYSTEM, Caller
from moot.core.errors import MootError
from moot.core.ids import AgentId, HostId, InstanceName, JobId, StreamId
from moot.core.tool import Tool
from moot.ledger import operations
from moot.ledger.operations import Deed, Key, Operation, OutcomeUnknown
from moot.registry import attempts
from moot.registry.attempts import NewAttempt
from moot.registry.errors import AttemptEnded
from moot.store import streams
from moot.store.store import Store
from moot.tools import table
from moot.tools.agents import Done
from moot.tools.call import StoreCall

TOOL: Tool = table.TOOLS["agent_unregister"]  # any whose result is a plain `Done`


@pytest.fixture
async def caller(store: Store) -> Caller:
    stream = StreamId("in_1")
    new = NewAttempt(AgentId("ag_1"), stream, JobId("jb_1"), 1, 1, HostId("ho_1"))
    await store.write(lambda tx: streams.create(tx, stream, "default"), caller=SYSTEM)
    attempt = await store.write(lambda tx: attempts.start(tx, new), caller=SYSTEM)
    return Caller("ann", "member", InstanceName("default"), AgentId("ag_1"), attempt=attempt, fence=1)


def call_of(store: Store, caller: Caller) -> StoreCall:
    return StoreCall(store, caller, TOOL, Deed("tool", TOOL.name, "hash", Key("jb_1", "k")))


async def record(store: Store, caller: Caller) -> list[tuple[str, str | None]]:
    assert caller.attempt is not None
    attempt = caller.attempt
    found: list[Operation] = await store.read(lambda tx: operations.of_attempt(tx, attempt))
    return [(one.state, one.result) for one in found]


async def test_the_intent_is_on_record_while_it_happens_and_the_outcome_after(store: Store, caller: Caller) -> None:
    during: list[tuple[str, str | None]] = []

    async def act() -> Done:
        during.extend(await record(store, caller))
        return Done(success=True)

    assert await call_of(store, caller).outside(act) == Done(success=True)
    assert during == [("started", None)]
    assert await record(store, caller) == [("done", '{"success":true}')]


async def test_a_repetition_under_the_same_key_is_answered_and_not_done_again(store: Store, caller: Caller) -> None:
    times = 0

    async def act() -> Done:
        nonlocal times
        times += 1
        return Done(success=True)

    first = await call_of(store, caller).outside(act)
    assert await call_of(store, caller).outside(act) == first
    assert times == 1


async def test_a_known_failure_may_be_tried_again(store: Store, caller: Caller) -> None:
    async def fail() -> Done:
        raise MootError("The disk is full.")

    async def succeed() -> Done:
        return Done(success=True)

    with pytest.raises(MootError, match="The disk is full"):
        await call_of(store, caller).outside(fail)
    assert await call_of(store, caller).outside(succeed) == Done(success=True)
    assert sorted(await record(store, caller)) == [("done", '{"success":true}'), ("failed", "The disk is full.")]


async def test_what_was_cut_off_is_of_unknown_outcome_and_not_repeated(store: Store, caller: Caller) -> None:
    is_acting = asyncio.Event()

    async def act() -> Done:
        is_acting.set()
        await asyncio.Event().wait()
        return Done(success=True)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(call_of(store, caller).outside(act))
        await asyncio.wait_for(is_acting.wait(), 10)
        task.cancel()
    assert caller.attempt is not None
    attempt = caller.attempt
    assert await store.write(lambda tx: operations.lose(tx, attempt), caller=SYSTEM) == 1
    assert await record(store, caller) == [("unknown", None)]
    with pytest.raises(OutcomeUnknown):
        await call_of(store, caller).outside(act)


async def test_an_ended_attempt_does_nothing_outside(store: Store, caller: Caller) -> None:
    assert caller.attempt is not None
    attempt = caller.attempt
    await store.write(lambda tx: attempts.end(tx, attempt, "lost"), caller=SYSTEM)

    async def act() -> Done:
        raise AssertionError("this must not happen")

    with pytest.raises(AttemptEnded):
        await call_of(store, caller).outside(act)
    assert await record(store, caller) == []
