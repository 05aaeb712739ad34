"""A plan whose tasks are each done in a worktree of their own."""

from moot.board import boards, claims, laying
from moot.board.boards import Board, NewBoard
from moot.board.claims import Taken
from moot.board.plans import Plan
from moot.board.tasks import Task
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.tools import isolation
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace
from tests.board.desk import ANN, Desk, planned
from tests.workspaces.conftest import Yard, inside
from tests.workspaces.repos import Repo


class Shop(Desk):
    """A plan with a worktree for each task."""

    async def begin(self, yard: Yard, name: str) -> Repo:
        """Claim a task, and have its worktree made."""
        return inside(await self.begun(yard, name))

    async def begun(self, yard: Yard, name: str) -> Workspace:
        one = await self.wanted(name)
        await yard.worktrees.carry_out(one.id)
        return await yard.get(one.id)

    async def wanted(self, name: str) -> Workspace:
        task = await self.task(name)
        return await self.store.write(lambda tx: self._claimed(tx, task), caller=SYSTEM)

    def _claimed(self, tx: Tx, task: Task) -> Workspace:
        agent = agents.find(tx, self.board.stream, "ann")
        agent = agent or agents.register(tx, instances.ensure(tx, DEFAULT_INSTANCE), NewAgent("ann"))
        assert isinstance(claims.claim(tx, task.id, ANN, self.board.stream), Taken)
        made = isolation.for_task(tx, self.board, task.id, task.name, agent)
        assert made is not None
        return made

    async def workspace(self, name: str) -> Workspace:
        task = await self.task(name)
        return await self.store.read(lambda tx: workspaces.of_task(tx, task.id)[0])


async def shop(yard: Yard, *lines: str) -> Shop:
    def made(tx: Tx) -> Board:
        instance = instances.ensure(tx, DEFAULT_INSTANCE)
        new = NewBoard(instance.name, instance.stream, "w", "prompt", "do it", max_parallel=9, makes_workspaces=True)
        board = boards.create(tx, new)
        laying.set_plan(tx, board.id, Plan(tasks=planned(*lines)))
        return board

    return Shop(yard.store, await yard.store.write(made, caller=SYSTEM))
