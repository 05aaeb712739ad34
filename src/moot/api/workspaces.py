"""Workspaces from a terminal: what there is, what was done in them, merging them back and clearing them away.

What has to be done with git is done here, whether or not a host runs: it is the same work, and one of both does it.
"""

from collections.abc import Sequence

from moot.api import rights
from moot.api.access import Access
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import InstanceName, WorkspaceId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.process.guardian import Guardian
from moot.runner.worktrees import Worktrees
from moot.tools import isolation
from moot.workspaces import changes, plain, workspaces
from moot.workspaces.errors import WorkspaceClosed, WorkspaceNotFound
from moot.workspaces.plain import Plain
from moot.workspaces.repository import HEADS
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree


class WorkspaceElsewhere(InvalidInput):
    """Its repository is on another machine, or belongs to another project."""

    code = "WORKSPACE_ELSEWHERE"


@record
class Card:
    workspace: Workspace
    tasks: tuple[str, ...]

    @property
    def plain(self) -> Plain:
        return plain.workspace(self.workspace, self.tasks)


@record
class Left:
    """A worktree that could not be cleared away."""

    where: str
    error: MootError


@record
class Retired:
    kept: tuple[str, ...]  # branches with work that is not merged
    left: tuple[Left, ...]


async def listed(access: Access, instance: InstanceName | None) -> list[Card]:
    """Of one instance, or of all; an agent sees those of its own."""
    own = access.caller.instance if access.caller.agent is not None else instance

    def look(tx: ReadTx) -> list[Card]:
        found = workspaces.everywhere(tx) if own is None else workspaces.all_of(tx, own)
        return [_card(tx, one) for one in found]

    return await access.store.read(look)


async def find(access: Access, target: str, instance: InstanceName | None = None) -> Card:
    """By its id or its branch: the one that is there, or else the last one that was."""
    found = [one for one in await listed(access, instance) if target in (one.workspace.id, one.workspace.branch)]
    if not found:
        raise WorkspaceNotFound(f"There is no workspace {target[:80]!r}.", "See moot workspace ls.")
    return max(found, key=lambda one: (one.workspace.path is not None, not one.workspace.is_closed, one.workspace.id))


async def diff(access: Access, card: Card) -> bytes:
    """The branch, and what is not committed in its worktree, against its base and what it builds on."""
    one = card.workspace
    worktrees = _here(access, one)
    return await changes.made(one, Worktree(one.id, await worktrees.repository(one), worktrees.grounds))


async def merge(access: Access, card: Card) -> Card:
    """Merge it now; what is in the way is on it then."""
    one = card.workspace
    if one.status == "merged" and not one.wanted:
        return card
    return await _done(access, one, "merge")


async def clean(access: Access, cards: Sequence[Card]) -> list[Card]:
    """Remove the worktrees; all work stays on its branch."""
    return [await _done(access, one.workspace, "remove") for one in cards]


async def retire(access: Access, instance: InstanceName) -> Retired:
    """Clear away all worktrees of an instance that is to be removed."""
    cleared: list[Workspace] = []
    left: list[Left] = []
    for card in await listed(access, instance):
        one = card.workspace
        try:
            found = (await clean(access, [card]))[0].workspace if one.path is not None or one.wanted else one
        except MootError as error:
            left.append(Left(one.path or one.branch, error))
            continue
        cleared.append(found)
        if found.path is not None:
            left.append(Left(found.path, found.error or WorkspaceClosed(f"{found.id} is {found.status}.")))
    kept: list[str] = []
    for one in cleared:  # behind them all: one that came to nothing may have had the same branch as another
        try:
            kept += await _unmerged(_here(access, one), one)
        except MootError as error:
            left.append(Left(one.branch, error))
    return Retired(tuple(dict.fromkeys(kept)), tuple(left))


async def _unmerged(worktrees: Worktrees, one: Workspace) -> list[str]:
    """The branches with work of it that neither its base has, nor what it was merged into."""
    if one.repo_path is None:
        return []
    repository = await worktrees.repository(one)
    named = [one.branch] if one.is_branch_ours else []
    found: list[str] = []
    for branch in (*named, *filter(None, [one.kept_branch])):
        tip = await repository.git.commit_of(HEADS + branch)
        if tip is not None and not await repository.has(one.homes, tip):
            found.append(branch)
    return found


async def _done(access: Access, one: Workspace, wish: isolation.Wanted) -> Card:
    rights.check_operator(access.caller)
    with Guardian() as guardian:
        worktrees = _here(access, one, guardian)
        if one.wanted not in ("", wish):  # somebody was killed, or a host is at it
            await worktrees.carry_out(one.id)

        def ask(tx: Tx) -> None:
            workspaces.settle(tx, one.id, worktrees.place)
            isolation.ask(tx, one.id, wish)

        await access.store.write(ask, caller=access.caller)
        await worktrees.carry_out(one.id)
    await access.store.write(lambda tx: jobs.cancel(tx, isolation.key(one.id)), caller=access.caller)
    return await access.store.read(lambda tx: _card(tx, workspaces.get(tx, one.id)))


def _here(access: Access, one: Workspace, guardian: Guardian | None = None) -> Worktrees:
    found = Worktrees(access.store, access.project.root, access.project.folder, guardian)
    if one.place not in ("", found.place):
        raise WorkspaceElsewhere(f"{one.id} belongs to {one.place}.", "Go there.")
    return found


def _card(tx: ReadTx, one: Workspace) -> Card:
    return Card(one, tuple(workspaces.tasks_of(tx, WorkspaceId(one.id))))
