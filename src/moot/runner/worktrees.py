"""Carrying out what is wanted of workspaces: the wish is on record before git is run, what came of it afterwards.

Whoever is killed in between leaves the wish. It is carried out again, by looking at what git says is there: each step
may be done twice. One process at a time works on a workspace, in the one place where its repository is.
"""

import asyncio
import platform
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeVar

from moot.board import tasks
from moot.board.errors import TaskNotFound
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import InstanceName, TaskId, WorkspaceId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.process import child, environment, sweep, tree
from moot.process.guardian import Guardian, guarded
from moot.process.program import Program, shell_argv
from moot.registry.agents import Agent
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.store.store import Store
from moot.tools import isolation
from moot.workspaces import merging, workspaces
from moot.workspaces import repository as repositories
from moot.workspaces.errors import (
    BaseBusy,
    BranchTaken,
    CheckoutBehind,
    FolderUnsafe,
    MergeConflict,
    NotARepository,
    RepositoryElsewhere,
    RepositoryLocked,
    SetupFailed,
    WorkInside,
    WorkspaceClosed,
)
from moot.workspaces.grounds import Grounds
from moot.workspaces.keeping import Owner
from moot.workspaces.merging import Merge
from moot.workspaces.outcomes import Step
from moot.workspaces.repository import HEADS, Repository
from moot.workspaces.workspaces import Plan, Workspace
from moot.workspaces.worktrees import Worktree

T = TypeVar("T")
_SETUP_SECONDS = 900.0
_SHOWN = 2000
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)  # for a lock that somebody else's git holds
_ORPHAN_SECONDS = 10.0  # for git that was left behind: it ends by itself, and killing it would leave a lock


class Told(Protocol):
    """What came of workspaces, known without git."""

    alone: asyncio.Lock  # held by who writes down an outcome

    def is_about(self, instance: InstanceName) -> bool: ...

    def outcome(self, one: Workspace) -> Callable[[Tx], None]:
        """Of what is wanted of it: writes it down."""
        ...


@record
class Worktrees:
    """The worktrees of one project on this machine."""

    store: Store
    root: Path
    own: Path  # moot's folder in it
    guardian: Guardian | None = None  # ends setup commands, should this process be killed
    told: Told | None = None  # where it knows, nothing is done

    @property
    def place(self) -> str:
        return f"{platform.node()}:{self.root}"

    @property
    def grounds(self) -> Grounds:
        return Grounds(self.own)

    async def carry_out(self, id: WorkspaceId) -> None:
        """Do what is wanted of it, if anything is; what stands in the way is on record then."""
        one = await self.store.read(lambda tx: workspaces.get(tx, id))
        if self.told is not None and self.told.is_about(one.instance):
            await self._tell(self.told, id)
            return
        try:
            async with self.grounds.alone(id):
                one = await self.store.read(lambda tx: workspaces.get(tx, id))
                try:
                    await self._carry_out(one)
                except (StoreBusy, StoreUnavailable):
                    raise  # the wish is on record, and is carried out again
                except MootError as error:
                    await self._refuse(id, error)
        except FolderUnsafe as error:
            await self._refuse(id, error)

    async def _tell(self, told: Told, id: WorkspaceId) -> None:
        async with told.alone:
            one = await self.store.read(lambda tx: workspaces.get(tx, id))
            if one.wanted:
                await self._write(told.outcome(one))

    async def _refuse(self, id: WorkspaceId, error: MootError) -> None:
        await self._write(lambda tx: workspaces.refused(tx, id, error))

    async def of_agent(self, agent: Agent) -> Path:
        """Where an agent works that has a worktree of its own: made before its first attempt, kept over all runs."""
        return await self._ready(await self._write(lambda tx: self._taken(tx, isolation.of_agent(tx, agent))))

    async def of_task(self, agent: Agent, hand: str) -> Path | None:
        """Where an attempt works that has in hand what has a worktree of its own; None if it has no such task."""
        task = await self.store.read(lambda tx: isolation.in_hand(tx, agent, hand))
        if task is None:
            return None
        return await self._ready(await self._write(lambda tx: self._taken(tx, isolation.of_held(tx, task, agent))))

    def _taken(self, tx: Tx, one: Workspace) -> Workspace:
        if not workspaces.settle(tx, one.id, self.place):
            raise RepositoryElsewhere(f"The worktree of {one.created_name} is in {one.place}.", "Run it there.")
        return one

    async def _ready(self, one: Workspace) -> Path:
        """It can be worked in now."""
        is_told = self.told is not None and self.told.is_about(one.instance)
        if not one.wanted and not is_told and not self.grounds.path(one.id).is_dir():  # deleted by hand
            one = await self._write(lambda tx: workspaces.want(tx, one.id, "make"))
        if one.wanted:
            await self.carry_out(one.id)
            one = await self.store.read(lambda tx: workspaces.get(tx, one.id))
        if one.path is None or one.status != "active" or not (is_told or Path(one.path).is_dir()):
            raise one.error or WorkspaceClosed(f"{one.id} is {one.status}.", "See moot workspace ls --all.")
        return Path(one.path)

    async def _carry_out(self, one: Workspace) -> None:
        if not one.wanted:
            return
        await _let_end(_marker(one))
        match one.wanted:
            case "make":
                await self._make(one)
            case "merge":
                await self._merge(one)
            case "remove":
                await self._remove(one)

    async def repository(self, one: Workspace) -> Repository:
        """Where it is, or where it is to be made."""
        folder = self.root / (one.repo_path or one.repo)
        return await repositories.found(folder, _marker(one), None if one.is_anywhere else self.root)

    async def _make(self, one: Workspace) -> None:
        repository = await self.repository(one)
        base, commit = await repository.base(one.base_branch)
        if base == one.branch:
            raise BranchTaken(f"{base} is the base branch itself.", "Choose another branch for the work.")
        is_ours = not await repository.has_branch(one.branch)
        worktree = Worktree(one.id, repository, self.grounds)
        plan = Plan(str(repository.top), str(worktree.path), base, commit, is_ours)
        one = await self._write(lambda tx: workspaces.plan(tx, one.id, plan))
        assert one.base_commit is not None
        if one.status != "creating" and worktree.has_files:
            if not worktree.is_there:
                raise WorkInside(f"There are files in {worktree.path} that git does not know.", "Take them away.")
            await self._bring_up(one, worktree, base)
        else:
            await self._check_out(one, worktree, one.base_commit)
        trouble = await self._set_up(one, worktree.path) if one.status == "creating" else None
        await self._write(lambda tx: workspaces.made(tx, one.id, trouble))

    async def _check_out(self, one: Workspace, worktree: Worktree, commit: str) -> None:
        try:
            await _patiently(lambda: worktree.make(one.branch, commit))
        except MootError:
            await self._undo(worktree, one)
            raise

    async def _bring_up(self, one: Workspace, worktree: Worktree, base: str) -> None:
        """What was merged and is worked on again goes on from where the base branch is now."""
        repository = worktree.repository
        tip, new = await repository.tip(one.branch), await repository.tip(base)
        git = await worktree.git()
        is_as_committed = await worktree.tree() == await git.line("rev-parse", f"{tip}^{{tree}}")
        is_its_own = (await git.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1))).text == HEADS + one.branch
        is_behind = is_as_committed and is_its_own and tip != new and await repository.contains(tip, new)
        if is_behind and await repository.move(one.branch, new, tip, f"moot: go on from {base}"):
            await merging.bring_along(repository, one.branch, Step(tip, new))

    async def _undo(self, worktree: Worktree, one: Workspace) -> None:
        self.grounds.discard(one.id)
        worktree.forget()
        if one.is_branch_ours and one.status == "creating":
            await worktree.repository.drop(one.branch, one.base_branch)

    async def _set_up(self, one: Workspace, folder: Path) -> SetupFailed | None:
        """The command of whoever has asked for it. It may be run again after a crash, in a worktree made anew."""
        if not one.setup:
            return None
        with guarded(self.guardian) as marker:
            argv, env = shell_argv(one.setup), environment.build({"MOOT_WORKSPACE": one.id})
            finished = await child.run(Program(argv, cwd=folder, env=env, deadline=_SETUP_SECONDS, marker=marker))
        if finished.is_success:
            return None
        return SetupFailed(
            f"The setup `{one.setup[:200]}` {finished.how}.\n{finished.printed(_SHOWN)}".strip(),
            "The worktree is there; mend it, or run the command by hand.",
        )

    async def _merge(self, one: Workspace) -> None:
        repository = await self.repository(one)
        base = (await repository.base(one.base_branch))[0]
        worktree = Worktree(one.id, repository, self.grounds)
        done = await self._merged_before(one, repository, base)
        if done is None:
            await self._keep(one, worktree)
            wanted = Merge(one.branch, base, await self.store.read(lambda tx: _message(tx, one, base)))

            async def intend(step: Step) -> None:
                await self._write(lambda tx: workspaces.intend(tx, one.id, step))

            found = await _patiently(lambda: merging.merge(repository, wanted, intend))
            if not isinstance(found, Step):
                conflicts = found
                error = _conflict(one, base, [each.file for each in found])
                await self._write(lambda tx: workspaces.refused(tx, one.id, error, conflicts))
                return
            done = found
        trouble = None
        try:
            await _patiently(lambda: merging.bring_along(repository, base, done))
        except CheckoutBehind as error:
            trouble = error
        await self._write(lambda tx: workspaces.merged(tx, one.id, done.new, trouble))

    async def _merged_before(self, one: Workspace, repository: Repository, base: str) -> Step | None:
        """The step that was written down and taken, by somebody who was killed before telling."""
        if one.merge_from is None or one.merge_commit is None:
            return None
        tip = await repository.tip(base)
        if not await repository.contains(one.merge_commit, tip):
            return None
        # Whoever has gone on from there has brought the files along.
        return Step(one.merge_from if tip == one.merge_commit else one.merge_commit, one.merge_commit)

    async def _keep(self, one: Workspace, worktree: Worktree) -> None:
        if not worktree.is_there:
            return
        if (what := repositories.under_way(worktree.note)) is not None:
            raise BaseBusy(f"Something is under way in {worktree.path} ({what}).", "Finish it there, and merge again.")
        await _patiently(lambda: worktree.keep(_owner(one)))

    async def _remove(self, one: Workspace) -> None:
        worktree = None
        try:
            worktree = Worktree(one.id, await self.repository(one), self.grounds)
        except NotARepository:
            if self.grounds.path(one.id).exists():
                raise
        kept = None
        if worktree is not None:
            kept = await _patiently(lambda: worktree.remove(_owner(one)))
            if one.is_branch_ours:
                await worktree.repository.drop(one.branch, one.base_branch)
        elsewhere = None if kept is None or kept.branch == one.branch else kept.branch
        await self._write(lambda tx: workspaces.removed(tx, one.id, elsewhere))

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


def _marker(one: Workspace) -> str:
    return f"worktree-{one.id}"


def _owner(one: Workspace) -> Owner:
    return Owner(one.created_name, one.branch, f"moot/kept/{one.id}", one.base_commit or "HEAD")


def _message(tx: ReadTx, one: Workspace, base: str) -> str:
    """Names the workspace and what was worked on in it."""
    lines = [f"Merge {one.branch} into {base}", "", f"Workspace: {one.id} of {one.created_name}"]
    for id in workspaces.tasks_of(tx, one.id):
        try:
            lines.append(f"Task: {id} {tasks.get(tx, TaskId(id)).name}")
        except TaskNotFound:
            lines.append(f"Task: {id}")
    return "\n".join(lines)


def _conflict(one: Workspace, base: str, files: list[str]) -> MergeConflict:
    return MergeConflict(
        f"{one.branch} and {base} have both changed {', '.join(files[:10])}.",
        f"Merge {base} into {one.branch} in the worktree, solve it there and commit; then merge again.",
    )


async def _patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Again, while somebody else's git holds a lock."""
    for pause in _PAUSES:
        try:
            return await work()
        except RepositoryLocked:
            await asyncio.sleep(pause)
    return await work()


async def _let_end(marker: str) -> None:
    """Wait for what a killed process has left running; only what does not end is killed."""
    until = asyncio.get_running_loop().time() + _ORPHAN_SECONDS
    while await asyncio.to_thread(tree.Tree(marker).members):
        if asyncio.get_running_loop().time() > until:
            await asyncio.to_thread(sweep.kill_marked, marker)
            return
        await asyncio.sleep(0.05)
