"""What clients on several connections see of one document could have happened one after the other."""

import asyncio
import random
from dataclasses import dataclass
from typing import Literal

import pytest

from moot.core.caller import SYSTEM
from moot.documents import documents
from moot.documents.errors import DocumentChanged
from moot.store.store import Store
from tests.documents.desk import ANN, HERE, shelf
from tests.linearizable import History, is_linearizable

FILE = "notes.md"
CLIENTS = 3  # on each of two stores
STEPS = 8


@dataclass(frozen=True)
class Asked:
    kind: Literal["read", "write", "append"]
    content: str = ""
    if_version: int | None = None


@dataclass(frozen=True)
class Answered:
    version: int
    content: str | None = None  # of a read
    is_refused: bool = False


State = tuple[int, str]


def step(state: State, asked: Asked, answered: Answered | None) -> State | None:
    version, content = state
    if asked.kind == "read":
        return state if answered in (None, Answered(version, content)) else None
    if asked.if_version not in (None, version):
        return state if answered in (None, Answered(version, is_refused=True)) else None
    after = (version + 1, content + asked.content if asked.kind == "append" else asked.content)
    return after if answered in (None, Answered(version + 1)) else None


async def perform(store: Store, asked: Asked) -> Answered:
    if asked.kind == "read":
        found = await store.read(lambda tx: documents.read(tx, HERE, FILE))
        return Answered(found.version, found.content)
    change = documents.append if asked.kind == "append" else documents.write
    try:
        written = await store.write(
            lambda tx: change(tx, HERE, FILE, asked.content, ANN, asked.if_version), caller=SYSTEM
        )
    except DocumentChanged as refused:
        return Answered(refused.version, is_refused=True)
    return Answered(written.version)


async def client(store: Store, name: str, chance: random.Random, history: History[Asked, Answered]) -> None:
    known = 0
    for number in range(STEPS):
        content = f"{name}{number} "
        asked = chance.choice(
            [Asked("read"), Asked("append", content), Asked("write", content), *[Asked("write", content, known)] * 4]
        )
        answered = await history.run(asked, lambda asked=asked: perform(store, asked))
        known = answered.version


@pytest.mark.parametrize("seed", range(3))
async def test_versions_of_a_document_are_linearizable(store: Store, neighbour: Store, seed: int) -> None:
    await shelf(store)
    history: History[Asked, Answered] = History()
    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            for name, used in (("a", store), ("b", neighbour)):
                chance = random.Random(f"{seed} {name} {number}")
                group.create_task(client(used, f"{name}{number}-", chance, history))
    refused = [one for one in history.operations if one.answered and one.answered.is_refused]
    assert len(history.operations) == 2 * CLIENTS * STEPS
    assert refused  # else nobody met anybody
    assert is_linearizable(history.operations, (0, ""), step)


async def test_a_version_that_is_checked_before_the_transaction_is_found_out(store: Store, neighbour: Store) -> None:
    """The bug that this is all about: both clients find the version they expect, and then both write."""
    await shelf(store)
    history: History[Asked, Answered] = History()
    both_have_read = asyncio.Barrier(2)

    async def careless(used: Store, asked: Asked) -> Answered:
        current = (await used.read(lambda tx: documents.read(tx, HERE, FILE))).version
        await both_have_read.wait()
        if asked.if_version != current:
            return Answered(current, is_refused=True)
        return await perform(used, Asked("write", asked.content))

    async with asyncio.TaskGroup() as group:
        for used, content in ((store, "one"), (neighbour, "two")):
            asked = Asked("write", content, 0)
            group.create_task(history.run(asked, lambda used=used, asked=asked: careless(used, asked)))
    assert not is_linearizable(history.operations, (0, ""), step)
