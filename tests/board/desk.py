"""A board with a plan, and hands that work on it."""

from dataclasses import dataclass

from moot.board import boards, claims, laying, progress, tasks
from moot.board.boards import Board, NewBoard
from moot.board.claims import Holder, Refused, Taken
from moot.board.laying import Laid
from moot.board.plans import Need, Plan, Planned
from moot.board.progress import Result
from moot.board.states import BoardStatus
from moot.board.tasks import Task
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE, AgentId, TaskId
from moot.core.tx import Tx
from moot.registry import instances
from moot.store.store import Store

ANN = Holder(AgentId("ag_ann"), "ann", "tok_ann")
BOB = Holder(AgentId("ag_bob"), "bob", "tok_bob")


def planned(*lines: str) -> tuple[Planned, ...]:
    """`c: a b ~d` is a task c that needs a and b, and would like to know of d."""
    return tuple(_planned(line) for line in lines)


def _planned(line: str) -> Planned:
    name, _, others = line.partition(":")
    needs = (Need(one.removeprefix("~"), "informs" if one.startswith("~") else "blocks") for one in others.split())
    return Planned(name, f"do {name}", tuple(needs))


@dataclass(frozen=True)
class Desk:
    store: Store
    board: Board

    async def plan(self, *lines: str) -> Laid:
        plan = Plan("a plan", "step by step", planned(*lines))
        return await self.store.write(lambda tx: laying.set_plan(tx, self.board.id, plan), caller=SYSTEM)

    async def add(self, *lines: str) -> Laid:
        return await self.store.write(lambda tx: laying.add_tasks(tx, self.board.id, planned(*lines)), caller=SYSTEM)

    async def task(self, name: str) -> Task:
        found = await self.store.read(lambda tx: tasks.named(tx, self.board.id, name))
        assert found is not None, name
        return found

    async def status(self) -> str:
        return (await self.store.read(lambda tx: boards.get(tx, self.board.id))).status

    async def turns(self) -> list[str]:
        """The states that the board has come to, in order."""
        events = (await self.store.feed(self.board.stream).page({}, 1000)).events
        return [str(one.data["status"]) for one in events if one.kind == boards.STATUS]

    async def move(self, status: BoardStatus) -> None:
        await self.store.write(lambda tx: progress.move_board(tx, self.board.id, status), caller=SYSTEM)

    async def ready(self, limit: int = 100) -> list[str]:
        found = await self.store.read(lambda tx: tasks.available(tx, self.board.id, limit))
        return [one.name for one in found]

    async def claim(self, name: str, holder: Holder = ANN) -> Taken | Refused:
        id = (await self.task(name)).id
        return await self.store.write(lambda tx: claims.claim(tx, id, holder, self.board.stream), caller=SYSTEM)

    async def complete(self, name: str, holder: Holder = ANN) -> None:
        id = (await self.task(name)).id
        await self.store.write(lambda tx: self.completed(tx, id, holder), caller=SYSTEM)

    def completed(self, tx: Tx, id: TaskId, holder: Holder) -> None:
        task = claims.hold(tx, id, holder.hand, self.board.stream)
        progress.complete(tx, task, Result(f"{task.name} is done", by=holder.agent))

    async def fail(self, name: str, holder: Holder = ANN) -> None:
        id = (await self.task(name)).id

        def change(tx: Tx) -> None:
            task = claims.hold(tx, id, holder.hand, self.board.stream)
            progress.fail(tx, task, Result(error="it broke", by=holder.agent))

        await self.store.write(change, caller=SYSTEM)

    async def skip(self, name: str) -> None:
        id = (await self.task(name)).id
        await self.store.write(lambda tx: progress.skip(tx, tasks.locked(tx, id), Result()), caller=SYSTEM)

    async def retry(self, name: str) -> None:
        id = (await self.task(name)).id
        await self.store.write(lambda tx: progress.retry(tx, tasks.locked(tx, id)), caller=SYSTEM)

    async def do(self, name: str, holder: Holder = ANN) -> None:
        assert isinstance(await self.claim(name, holder), Taken)
        await self.complete(name, holder)


async def desk(store: Store, *lines: str, makes_workspaces: bool = False) -> Desk:
    def made(tx: Tx) -> Board:
        instance = instances.ensure(tx, DEFAULT_INSTANCE)
        new = NewBoard(instance.name, instance.stream, "a board", "prompt", "do it", makes_workspaces=makes_workspaces)
        return boards.create(tx, new)

    found = Desk(store, await store.write(made, caller=SYSTEM))
    if lines:
        await found.plan(*lines)
    return found
