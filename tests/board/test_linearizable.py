"""Claims that meet from several processes: what each was answered could have happened one after the other."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Literal

import pytest

from moot.board import claims, progress, tasks
from moot.board.claims import LEASE, Holder, Taken
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import AgentId, StreamId, TaskId
from moot.core.tx import Tx
from moot.store.store import Store
from tests.board.desk import desk
from tests.linearizable import History, is_linearizable

Act = Literal["claim", "overrun", "complete", "release", "look"]
HOLDERS = tuple(Holder(AgentId(f"ag_{number}"), f"agent{number}", f"tok_{number}") for number in range(4))
NO_TIME = timedelta(0)


@dataclass(frozen=True)
class Asked:
    """`overrun` is a claim whose time is over at once: others may take over, and it is refused from then on."""

    act: Act
    by: str = ""


Answered = tuple[str, int]  # how it stands or was refused, and the fence
State = tuple[str, str, int, bool]  # how it stands, who holds it, the fence, whether its time is over


def step(state: State, asked: Asked, answered: Answered | None) -> State | None:
    """What comes of it; None if nobody can be answered this in that state."""
    status, holder, fence, is_over = state
    after, expected = state, ("", 0)
    match asked.act:
        case "look":
            expected = (status, fence)
        case "claim" | "overrun":
            if status == "pending" or (status == "held" and (is_over or holder == asked.by)):
                after = ("held", asked.by, fence + 1, asked.act == "overrun")
                expected = ("taken", fence + 1)
            else:
                expected = ("claimed" if status == "held" else "finished", 0)
        case "complete" | "release":
            if status == "held" and holder == asked.by and not is_over:
                after = ("completed" if asked.act == "complete" else "pending", "", fence, False)
                expected = ("done", fence)
            else:
                expected = ("CLAIM_LOST", 0)
    return after if answered == expected else None


async def ask(store: Store, stream: StreamId, id: TaskId, act: Act, by: Holder) -> Answered:
    def change(tx: Tx) -> Answered:
        if act in ("claim", "overrun"):
            found = claims.claim(tx, id, by, stream, LEASE if act == "claim" else NO_TIME)
            return ("taken", found.fence) if isinstance(found, Taken) else (found.obstacle, 0)
        task = claims.hold(tx, id, by.hand, stream)
        if act == "complete":
            progress.complete(tx, task, Result("done"))
        else:
            claims.release(tx, task, "enough")
        return "done", task.fence

    try:
        return await store.write(change, caller=SYSTEM)
    except MootError as error:
        return error.code, 0


async def look(store: Store, id: TaskId) -> Answered:
    task = await store.read(lambda tx: tasks.get(tx, id))
    return "held" if task.status in ("planning", "in_progress") else task.status, task.fence


async def test_what_concurrent_claimers_are_answered_could_have_happened_in_turn(
    store: Store, neighbour: Store
) -> None:
    made = await desk(store, *"abcdef")
    scripts: tuple[tuple[Act, ...], ...] = (
        ("overrun", "complete", "claim", "complete"),
        ("claim", "release", "claim", "complete"),
        ("overrun", "claim", "release"),
        ("claim", "claim", "complete"),
    )
    for name in "abcdef":
        id = (await made.task(name)).id
        history = History[Asked, Answered]()

        async def worker(place: Store, holder: Holder, script: tuple[Act, ...]) -> None:
            for act in script:
                done = partial(ask, place, made.board.stream, id, act, holder)  # noqa: B023  # awaited in this round
                await history.run(Asked(act, holder.name), done)  # noqa: B023
                await history.run(Asked("look"), partial(look, place, id))  # noqa: B023

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number, (holder, script) in enumerate(zip(HOLDERS, scripts, strict=True)):
                group.create_task(worker((store, neighbour)[number % 2], holder, script))
        assert is_linearizable(history.operations, ("pending", "", 0, False), step)


async def taken_over(store: Store) -> History[Asked, Answered]:
    """Somebody oversleeps, another takes over, and both say that they are done."""
    made = await desk(store, "a", "b")
    id = (await made.task("a")).id
    history = History[Asked, Answered]()
    first, second = HOLDERS[:2]
    acts: tuple[tuple[Act, Holder], ...] = (
        ("overrun", first),
        ("claim", second),
        ("complete", first),
        ("complete", second),
    )
    for act, holder in acts:
        await history.run(Asked(act, holder.name), partial(ask, store, made.board.stream, id, act, holder))
    return history


async def test_without_the_fence_the_answers_cannot_have_been_given_in_turn(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fenced = await taken_over(store)
    assert is_linearizable(fenced.operations, ("pending", "", 0, False), step)

    def unfenced(tx: Tx, id: TaskId, hand: str, stream: StreamId) -> Task:
        return tasks.locked(tx, id, stream)

    monkeypatch.setattr(claims, "hold", unfenced)
    assert not is_linearizable((await taken_over(store)).operations, ("pending", "", 0, False), step)
