"""Workspaces: a branch to work on, mostly with a worktree, on its way from made to merged or abandoned.

These are the rows. What somebody asks of one is written down as `wanted` before git is run for it, and what came of it
afterwards; a crash in between leaves the wish, and git is asked what is there.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from moot.core import json
from moot.core.errors import MootError
from moot.core.events import Event
from moot.core.ids import AgentId, InstanceName, StreamId, WorkspaceId
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.store import queries
from moot.workspaces import branches, errors
from moot.workspaces.errors import BranchTaken, NeedsMissing, WorkspaceClosed, WorkspaceNotFound
from moot.workspaces.outcomes import Conflict, Step

sql = queries.beside(__file__)
Status = Literal["creating", "active", "merged", "abandoned"]
Wish = Literal["", "make", "merge", "remove", "push"]
CREATED, MADE, MERGED, ABANDONED, REMOVED, REFUSED, PUSHED = (
    f"workspace_{word}" for word in ("created", "made", "merged", "abandoned", "removed", "refused", "pushed")
)
_REACTED = frozenset((MERGED, REFUSED, PUSHED))  # a team may wait for it


@record
class Workspace:
    id: WorkspaceId
    stream: StreamId
    instance: InstanceName
    board: str  # the workflow that it belongs to; empty: none
    branch: str
    base_branch: str  # empty until it is made: whatever is checked out
    base_commit: str | None
    merge_into: str  # another branch, which it is merged into in place of the base; empty: the base
    repo: str  # as it was asked for; empty: the project's own
    is_anywhere: bool  # asked for by the person, who may name any repository
    place: str  # the machine and the project where it is worked on; empty until somebody is at it
    repo_path: str | None
    path: str | None  # of the worktree, while there is one
    is_branch_ours: bool  # moot has made it, and may take it away once it is merged
    status: Status
    wanted: Wish
    setup: str
    merge_from: str | None
    merge_commit: str | None
    kept_branch: str | None  # where work is that could not be committed to the branch
    trouble: Mapping[str, Json]  # why the last thing that was wanted did not come about
    created_by: AgentId | None
    created_name: str
    made_at: datetime
    closed_at: datetime | None

    @property
    def is_closed(self) -> bool:
        return self.status in ("merged", "abandoned")

    @property
    def homes(self) -> tuple[str, ...]:
        """The branches that its work comes to: what it is merged into first, in the end its base."""
        return tuple(filter(None, (self.merge_into, self.base_branch)))

    @property
    def error(self) -> MootError | None:
        """What stood in the way, as it was met."""
        if not self.trouble:
            return None
        fact, remedy = str(self.trouble["fact"]), str(self.trouble["remedy"])
        return errors.of(str(self.trouble["code"]))(fact, remedy)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        found = self.trouble.get("conflicts")
        pairs = found if isinstance(found, list) else []
        return tuple(Conflict(str(one["file"]), str(one["kind"])) for one in pairs if isinstance(one, dict))


@record
class NewWorkspace:
    stream: StreamId
    instance: InstanceName
    branch: str
    board: str = ""
    base_branch: str = ""
    repo: str = ""
    is_anywhere: bool = False
    has_worktree: bool = True
    setup: str = ""
    created_by: AgentId | None = None
    created_name: str = ""


@record
class Plan:
    """What is going to be made."""

    repo_path: str
    path: str
    base_branch: str
    base_commit: str
    is_branch_ours: bool
    is_own: bool = False  # in the project's own repository, however that was named


def add(tx: Tx, new: NewWorkspace) -> Workspace:
    """BranchTaken if another workspace is on the branch."""
    branches.check(new.branch)
    if new.base_branch:
        branches.check(new.base_branch)
    id = tx.maybe(
        sql.add,
        str,
        id=tx.new_id("ws"),
        stream=new.stream,
        instance=new.instance,
        board=new.board,
        branch=new.branch,
        branch_key=branches.key(new.branch),
        base_branch=new.base_branch,
        repo=new.repo,
        is_anywhere=new.is_anywhere,
        status="creating" if new.has_worktree else "active",
        wanted="make" if new.has_worktree else "",
        setup=new.setup,
        created_by=new.created_by,
        created_name=new.created_name,
        now=tx.now,
    )
    if id is None:
        raise BranchTaken(f"Another workspace is on {new.branch!r}.", "Choose another branch; see workspace_list.")
    tx.announce(Event(new.stream, CREATED, id, {"branch": new.branch}, is_quiet=True))
    return get(tx, WorkspaceId(id))


def get(tx: ReadTx, id: WorkspaceId, instance: InstanceName | None = None) -> Workspace:
    """WorkspaceNotFound if there is none, or none in this instance."""
    found = tx.maybe(sql.get, Workspace, id=id)
    if found is None or instance not in (None, found.instance):
        raise WorkspaceNotFound(f"There is no workspace {id[:80]!r} here.", "See workspace_list, or moot workspace ls.")
    return found


def taken(one: Workspace) -> BranchTaken:
    return BranchTaken(f"The workspace {one.id} is on {one.branch!r}.", "Choose another branch.")


def repository(tx: ReadTx, folder: str) -> str:
    """As `repo` of a workspace names it: empty where the folder is known to be the project's own."""
    path = os.path.normpath(folder) if folder else "."
    return "" if path == "." or tx.maybe(sql.own, str, repo_path=path) is not None else folder


def on_branch(tx: ReadTx, branch: str, repo: str = "") -> Workspace | None:
    id = tx.maybe(sql.on_branch, str, repo=repo, branch_key=branches.key(branch))
    return None if id is None else get(tx, WorkspaceId(id))


def all_of(tx: ReadTx, instance: InstanceName, board: str = "") -> list[Workspace]:
    return tx.all(sql.all_of, Workspace, instance=instance, board=board)


def everywhere(tx: ReadTx) -> list[Workspace]:
    return tx.all(sql.everywhere, Workspace)


def unfinished(tx: ReadTx, place: str) -> list[Workspace]:
    """What was asked for here, or nobody has begun, and is not done."""
    return tx.all(sql.unfinished, Workspace, place=place)


def attach(tx: Tx, id: WorkspaceId, tasks: Iterable[str]) -> None:
    for task in tasks:
        tx.run(sql.attach, id=id, task=task)


def tasks_of(tx: ReadTx, id: WorkspaceId) -> list[str]:
    return tx.all(sql.tasks, str, id=id)


def of_task(tx: ReadTx, task: str) -> list[Workspace]:
    return [get(tx, WorkspaceId(id)) for id in tx.all(sql.of_task, str, task=task)]


def want(tx: Tx, id: WorkspaceId, wish: Literal["make", "merge", "remove", "push"]) -> Workspace:
    """Ask for it; the same asked again is the same. WorkspaceClosed where it cannot come about."""
    one = _held(tx, id)
    if one.wanted == wish:
        return one
    if one.wanted:
        raise WorkspaceClosed(f"{id} waits for something else ({one.wanted}).", "Try again when that is done.")
    if wish == "merge" and one.is_closed:
        raise WorkspaceClosed(f"{id} is {one.status}.", "Make another workspace on its branch to go on.")
    return _change(tx, replace(one, wanted=wish, trouble={}))


def close(
    tx: Tx, id: WorkspaceId, status: Literal["merged", "abandoned"], merge_commit: str | None = None
) -> Workspace:
    """By who has merged it by other means, or wants it no more."""
    one = _held(tx, id)
    if one.status == status:
        return one if merge_commit in (None, one.merge_commit) else _change(tx, replace(one, merge_commit=merge_commit))
    if one.is_closed or one.wanted in ("make", "merge"):
        raise WorkspaceClosed(f"{id} is {one.status}{' and being changed' * bool(one.wanted)}.", "See workspace_list.")
    _tell(tx, one, MERGED if status == "merged" else ABANDONED)
    return _change(tx, replace(one, status=status, merge_commit=merge_commit, closed_at=tx.now, trouble={}))


def lead_to(tx: Tx, id: WorkspaceId, branch: str) -> Workspace:
    """Where it is merged into from now on, in place of its base branch."""
    branches.check(branch)
    return _change(tx, replace(_held(tx, id), merge_into=branch, merge_from=None, merge_commit=None))


def reopen(tx: Tx, id: WorkspaceId) -> Workspace:
    """Somebody goes on working in it; its worktree is made again if it is gone."""
    one = _held(tx, id)
    if not one.is_closed:
        return one
    other = on_branch(tx, one.branch, one.repo)
    if one.wanted or (other is not None and other.id != id):
        raise BranchTaken(
            f"Another workspace is on {one.branch!r}, or this one is being changed.", "See workspace_list."
        )
    _tell(tx, one, CREATED)
    # The step of the last merge is taken and told; left behind, it would pass for that of the next.
    fresh = replace(one, merge_from=None, merge_commit=None, merge_into="", closed_at=None, trouble={})
    return _change(tx, replace(fresh, status="active", wanted="make"))


def settle(tx: Tx, id: WorkspaceId, place: str) -> bool:
    """Whether it is worked on in this place, from now on for good."""
    tx.run(sql.settle, id=id, place=place)
    return get(tx, id).place == place


def plan(tx: Tx, id: WorkspaceId, plan: Plan) -> Workspace:
    """Before git is run: what it is going to make. BranchTaken if another is on the branch there."""
    one = _held(tx, id)
    repo = "" if plan.is_own else one.repo
    other = on_branch(tx, one.branch, repo)
    if other is not None and other.id != id:
        raise taken(other)
    tx.run(
        sql.plan,
        id=id,
        repo=repo,
        repo_path=plan.repo_path,
        path=plan.path,
        base_branch=plan.base_branch,
        base_commit=plan.base_commit,
        is_branch_ours=plan.is_branch_ours,
    )
    return get(tx, id)


def intend(tx: Tx, id: WorkspaceId, step: Step | None) -> None:
    """Before a branch is moved: from where to where; None once that is told otherwise."""
    old, new = (None, None) if step is None else (step.old, step.new)
    _change(tx, replace(_held(tx, id), merge_from=old, merge_commit=new))


def made(tx: Tx, id: WorkspaceId, trouble: MootError | None = None, conflicts: tuple[Conflict, ...] = ()) -> None:
    """It can be worked in, though its setup may have failed, or something it builds on is not in it."""
    one = _held(tx, id)
    if one.wanted == "make":
        told = {} if trouble is None else _plain(trouble, conflicts)
        _tell(tx, one, MADE, trouble=told)
        _change(tx, replace(one, status="active" if one.status == "creating" else one.status, wanted="", trouble=told))


def brought(tx: Tx, id: WorkspaceId, trouble: MootError | None, conflicts: tuple[Conflict, ...] = ()) -> None:
    """What is built on there is in it by now, or not all of it."""
    one = _held(tx, id)
    told = {} if trouble is None else _plain(trouble, conflicts)
    if told or one.trouble.get("code") == NeedsMissing.code:
        _change(tx, replace(one, trouble=told))


def merged(tx: Tx, id: WorkspaceId, commit: str, trouble: MootError | None = None) -> None:
    """The base branch has it; the trouble is with somebody's files."""
    one = _held(tx, id)
    if one.wanted == "merge":
        told = {} if trouble is None else _plain(trouble)
        _tell(tx, one, MERGED, commit=commit, trouble=told)
        _change(tx, replace(one, status="merged", wanted="", merge_commit=commit, trouble=told, closed_at=tx.now))


def pushed(tx: Tx, id: WorkspaceId, remote: str) -> None:
    """The remote has its branch."""
    one = _held(tx, id)
    if one.wanted == "push":
        _tell(tx, one, PUSHED, remote=remote)
        _change(tx, replace(one, wanted=""))


def removed(tx: Tx, id: WorkspaceId, kept_branch: str | None) -> None:
    """Its worktree is gone."""
    one = _held(tx, id)
    if one.wanted == "remove":
        _tell(tx, one, REMOVED, kept=kept_branch)
        status = one.status if one.is_closed else "abandoned"
        closed_at = one.closed_at or tx.now
        kept = kept_branch or one.kept_branch
        _change(tx, replace(one, status=status, wanted="", path=None, kept_branch=kept, closed_at=closed_at))


def refused(tx: Tx, id: WorkspaceId, error: MootError, conflicts: tuple[Conflict, ...] = ()) -> None:
    """It did not come about: nothing was changed, and it says why. One that was never made is abandoned."""
    one = _held(tx, id)
    if not one.wanted:
        return
    told = _plain(error, conflicts)
    _tell(tx, one, REFUSED, wanted=one.wanted, code=error.code, trouble=told)
    if one.status == "creating":
        _change(tx, replace(one, status="abandoned", wanted="", path=None, trouble=told, closed_at=tx.now))
    else:
        _change(tx, replace(one, wanted="", trouble=told))  # a step that was taken is still to be found next time


def close_unmade(tx: Tx, id: WorkspaceId) -> None:
    """There is none: it was only told of. Its branch is free for others."""
    one = _held(tx, id)
    status = one.status if one.is_closed else "abandoned"
    _change(tx, replace(one, status=status, wanted="", path=None, closed_at=one.closed_at or tx.now))


def forget(tx: Tx, instance: InstanceName) -> None:
    """The rows. What is on disk is for others."""
    tx.run(sql.forget_tasks, instance=instance)
    tx.run(sql.forget, instance=instance)


def _held(tx: Tx, id: WorkspaceId) -> Workspace:
    tx.lock("workspaces", id)
    return get(tx, id)


def _change(tx: Tx, one: Workspace) -> Workspace:
    tx.run(
        sql.change,
        id=one.id,
        status=one.status,
        wanted=one.wanted,
        path=one.path,
        merge_into=one.merge_into,
        merge_from=one.merge_from,
        merge_commit=one.merge_commit,
        kept_branch=one.kept_branch,
        trouble=json.dumps(one.trouble),
        closed_at=one.closed_at,
    )
    tx.wake()
    return one


def _plain(error: MootError, conflicts: tuple[Conflict, ...] = ()) -> dict[str, Json]:
    files: list[Json] = [{"file": each.file, "kind": each.kind} for each in conflicts]
    said: dict[str, Json] = {"code": error.code, "fact": error.fact, "remedy": error.remedy}
    return said | ({"conflicts": files} if files else {})


def _tell(tx: Tx, one: Workspace, kind: str, **data: Json) -> None:
    is_quiet = kind not in _REACTED
    tx.announce(Event(one.stream, kind, one.id, {"branch": one.branch, **data}, is_quiet=is_quiet))
