"""Carrying out what is wanted of workspaces: the wish is on record before git is run, what came of it afterwards.

Whoever is killed in between leaves the wish. It is carried out again, by looking at what git says is there: each step
may be done twice. One process at a time works on a workspace, in the one place where its repository is.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from moot.board import tasks
from moot.board.errors import TaskNotFound
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import InstanceName, TaskId, WorkspaceId
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.process import child, environment
from moot.process.guardian import Guardian, guarded
from moot.process.program import Program, shell_argv
from moot.registry.agents import Agent
from moot.runner import bringing_in, upkeep
from moot.runner.bringing_in import Site
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.store.store import Store
from moot.tools import isolation, needed_work
from moot.workspaces import beginnings, grounds, locks, merging, pushing, workspaces
from moot.workspaces import repository as repositories
from moot.workspaces.beginnings import Strand
from moot.workspaces.errors import (
    BranchTaken,
    CheckoutBehind,
    FolderUnsafe,
    MergeConflict,
    NotARepository,
    RepositoryElsewhere,
    SetupFailed,
    WorkInside,
    WorkspaceClosed,
)
from moot.workspaces.grounds import Grounds
from moot.workspaces.merging import Merge
from moot.workspaces.outcomes import Conflict, Step
from moot.workspaces.repository import HEADS, Repository
from moot.workspaces.workspaces import Plan, Workspace
from moot.workspaces.worktrees import Worktree

T = TypeVar("T")
Conflicts = tuple[Conflict, ...]
_SETUP_SECONDS = 900.0
_SHOWN = 2000


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
        return grounds.place(self.root)

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
        """Where an agent works that has a worktree of its own: made before its first attempt, kept over all runs. What
        it has in hand finds there what it builds on."""
        one = await self._write(lambda tx: self._taken(tx, isolation.of_agent(tx, agent)))
        path = await self._ready(one)
        if self.told is None or not self.told.is_about(one.instance):
            await self._bring_over(agent, one.id)
        return path

    async def _bring_over(self, agent: Agent, id: WorkspaceId) -> None:
        one = await self.store.read(lambda tx: workspaces.get(tx, id))
        needed = await self.store.read(lambda tx: needed_work.for_agent(tx, agent, one))
        if not needed and one.merge_commit is None:
            return
        worktree = await self._worktree(one)

        async def intend(step: Step | None) -> None:
            await self._write(lambda tx: workspaces.intend(tx, id, step))

        missing = await bringing_in.merge(Site(worktree, one.branch, self.place), one, needed, intend)
        conflicts = tuple(each for without in missing for each in without.conflicts)
        await self._write(lambda tx: workspaces.brought(tx, id, beginnings.told(missing), conflicts))

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
        if not is_told and locks.may_be_left(Path(one.path), one):
            await asyncio.to_thread(locks.release, await self._worktree(one), one)
        return Path(one.path)

    async def _worktree(self, one: Workspace) -> Worktree:
        return Worktree(one.id, await self.repository(one), self.grounds)

    async def _carry_out(self, one: Workspace) -> None:
        if not one.wanted:
            return
        await upkeep.let_end(one)
        match one.wanted:
            case "make":
                await self._make(one)
            case "merge":
                await self._merge(one)
            case "remove":
                await self._remove(one)
            case "push":
                await self._push(one)

    async def repository(self, one: Workspace) -> Repository:
        """Where it is, or where it is to be made."""
        folder = self.root / (one.repo_path or one.repo)
        return await repositories.found(folder, upkeep.marker(one), None if one.is_anywhere else self.root)

    async def _make(self, one: Workspace) -> None:
        repository = await self.repository(one)
        base = Strand(*await repository.base(one.base_branch))
        if base.branch == one.branch:
            raise BranchTaken(f"{base.branch} is the base branch itself.", "Choose another branch for the work.")
        worktree = Worktree(one.id, repository, self.grounds)
        if one.status == "creating" and one.base_commit is not None:  # half of one from before
            await self._undo(worktree, one)
        if one.status == "creating" or not worktree.is_begun:
            error, conflicts = await self._begin(one, worktree, base)
        else:
            error, conflicts = None, ()
            await self._go_on(one, worktree, base)
        await self._write(lambda tx: workspaces.made(tx, one.id, error, conflicts))

    async def _begin(self, one: Workspace, worktree: Worktree, base: Strand) -> tuple[MootError | None, Conflicts]:
        """A branch of its own with what its task builds on, a worktree, and what prepares that."""
        is_new = not await worktree.repository.has_branch(one.branch)
        needed = await self.store.read(lambda tx: needed_work.of(tx, one))
        begun = await bringing_in.begin(Site(worktree, one.branch, self.place), base, needed, is_new=is_new)
        if is_new or one.status == "creating":
            one = replace(one, base_commit=begun.commit, is_branch_ours=is_new)
        one = await self._planned(one, worktree, base)
        await self._check_out(one, worktree, begun.commit)
        failed, missing = await self._set_up(one, worktree.path), beginnings.told(begun.missing)
        conflicts = tuple(each for without in begun.missing for each in without.conflicts)
        if failed is None or missing is None:
            return failed or missing, conflicts
        return SetupFailed(f"{failed.fact}\n{missing.fact}", f"{failed.remedy} {missing.remedy}"), conflicts

    async def _go_on(self, one: Workspace, worktree: Worktree, base: Strand) -> None:
        """In what is there, as it was left."""
        if not worktree.is_there:
            raise WorkInside(f"There are files in {worktree.path} that git does not know.", "Take them away.")
        one = await self._planned(one, worktree, base)
        await self._bring_up(one, worktree, base.branch)

    async def _planned(self, one: Workspace, worktree: Worktree, base: Strand) -> Workspace:
        top, path = str(worktree.repository.top), str(worktree.path)
        is_own = not one.repo or await self._is_own(one, worktree.repository)
        plan = Plan(top, path, base.branch, one.base_commit or base.tip, one.is_branch_ours, is_own)
        return await self._write(lambda tx: workspaces.plan(tx, one.id, plan))

    async def _is_own(self, one: Workspace, repository: Repository) -> bool:
        try:
            return (await repositories.found(self.root, upkeep.marker(one))).top == repository.top
        except NotARepository:
            return False

    async def _check_out(self, one: Workspace, worktree: Worktree, commit: str) -> None:
        try:
            await upkeep.patiently(lambda: worktree.make(one.branch, commit))
        except MootError:
            await self._undo(worktree, one)
            raise

    async def _bring_up(self, one: Workspace, worktree: Worktree, base: str) -> None:
        """What was merged and is worked on again goes on from where the base branch is now."""
        step = await self._step_up(one, worktree, base)
        if step is None:
            return
        await self._write(lambda tx: workspaces.intend(tx, one.id, step))
        repository = worktree.repository
        is_taken = await repository.tip(one.branch) == step.new
        if is_taken or await repository.move(one.branch, step.new, step.old, f"moot: go on from {base}"):
            await upkeep.patiently(lambda: merging.bring_along(repository, one.branch, step))
        await self._write(lambda tx: workspaces.intend(tx, one.id, None))

    async def _step_up(self, one: Workspace, worktree: Worktree, base: str) -> Step | None:
        """To the base branch, where nothing was done since; one that somebody has taken who was killed is taken again,
        because the files may be behind."""
        repository = worktree.repository
        tip, new = await repository.tip(one.branch), await repository.tip(base)
        if one.merge_from not in (None, tip):
            return Step(one.merge_from, tip) if tip == one.merge_commit else None
        git = await worktree.git()
        is_as_committed = await worktree.tree() == await git.line("rev-parse", f"{tip}^{{tree}}")
        is_its_own = (await git.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1))).text == HEADS + one.branch
        is_behind = is_as_committed and is_its_own and tip != new and await repository.contains(tip, new)
        return Step(tip, new) if is_behind else None

    async def _undo(self, worktree: Worktree, one: Workspace) -> None:
        self.grounds.discard(one.id)
        worktree.forget()
        if one.is_branch_ours and one.status == "creating":
            await worktree.repository.drop(one.branch, [one.base_branch], one.base_commit)

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
        base = one.merge_into or (await repository.base(one.base_branch))[0]
        worktree = Worktree(one.id, repository, self.grounds)
        if one.merge_into:
            await self._keep_target(one, repository)
        done = await self._merged_before(one, repository, base)
        if done is None:
            await upkeep.keep_on_branch(one, worktree, base)
            wanted = Merge(one.branch, base, await self.store.read(lambda tx: _message(tx, one, base)))

            async def intend(step: Step) -> None:
                await self._write(lambda tx: workspaces.intend(tx, one.id, step))

            found = await upkeep.patiently(lambda: merging.merge(repository, wanted, intend))
            if not isinstance(found, Step):
                conflicts = found
                error = _conflict(one, base, [each.file for each in found])
                await self._write(lambda tx: workspaces.refused(tx, one.id, error, conflicts))
                return
            done = found
        trouble = None
        try:
            await upkeep.patiently(lambda: merging.bring_along(repository, base, done))
        except CheckoutBehind as error:
            trouble = error
        await self._write(lambda tx: workspaces.merged(tx, one.id, done.new, trouble))

    async def _keep_target(self, one: Workspace, repository: Repository) -> None:
        """What is not committed where it is merged into."""
        target = await self.store.read(lambda tx: workspaces.on_branch(tx, one.merge_into, one.repo))
        if target is not None:
            async with self.grounds.alone(target.id):
                await upkeep.let_end(target)
                await upkeep.keep(target, Worktree(target.id, repository, self.grounds))

    async def _push(self, one: Workspace) -> None:
        repository = await self.repository(one)
        await upkeep.keep_on_branch(one, Worktree(one.id, repository, self.grounds), one.base_branch)
        remote = await pushing.push(repository, one.branch)
        await self._write(lambda tx: workspaces.pushed(tx, one.id, remote))

    async def _merged_before(self, one: Workspace, repository: Repository, base: str) -> Step | None:
        """The step that was written down and taken, by somebody who was killed before telling."""
        if one.merge_from is None or one.merge_commit is None:
            return None
        tip = await repository.tip(base)
        if not await repository.contains(one.merge_commit, tip):
            return None
        return Step(one.merge_from, one.merge_commit)

    async def _remove(self, one: Workspace) -> None:
        worktree = None
        try:
            worktree = await self._worktree(one)
        except NotARepository:
            if self.grounds.path(one.id).exists():
                raise
        kept = None
        if worktree is not None:
            kept = await upkeep.patiently(lambda: worktree.remove(upkeep.owner(one)))
            if one.is_branch_ours:
                await worktree.repository.drop(one.branch, one.homes, one.base_commit)
        elsewhere = None if kept is None or kept.branch == one.branch else kept.branch
        await self._write(lambda tx: workspaces.removed(tx, one.id, elsewhere))

    async def _write(self, change: Callable[[Tx], T]) -> T:
        return await self.store.write(change, caller=SYSTEM)


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
