"""A program's own conversation is kept for each agent and backend, the newest one."""

from moot.core.caller import SYSTEM
from moot.core.ids import AgentId
from moot.registry import conversations
from moot.registry.conversations import Kept
from moot.store.store import Store

ANN = AgentId("ag_ann")


async def test_the_newest_is_the_one_to_go_on_with(store: Store) -> None:
    first, second = Kept("one", 1, 2, 3, 4, is_estimated=False), Kept("two", 5, 6, 7, 8, is_estimated=True)
    for kept in (first, second):
        await store.write(lambda tx, kept=kept: conversations.keep(tx, ANN, "claude", kept), caller=SYSTEM)
    await store.write(lambda tx: conversations.keep(tx, ANN, "codex", first), caller=SYSTEM)
    assert await store.read(lambda tx: conversations.of_agent(tx, ANN, "claude")) == second
    assert await store.read(lambda tx: conversations.of_agent(tx, ANN, "codex")) == first
    assert await store.read(lambda tx: conversations.of_agent(tx, AgentId("ag_bob"), "claude")) is None


async def test_what_is_forgotten_is_begun_anew(store: Store) -> None:
    kept = Kept("one", 1, 2, 3, 4, is_estimated=False)
    await store.write(lambda tx: conversations.keep(tx, ANN, "claude", kept), caller=SYSTEM)
    await store.write(lambda tx: conversations.forget(tx, ANN), caller=SYSTEM)
    assert await store.read(lambda tx: conversations.of_agent(tx, ANN, "claude")) is None
