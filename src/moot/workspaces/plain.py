"""Workspaces as tools and commands show them."""

from collections.abc import Sequence

from moot.core import clock
from moot.core.json import Json
from moot.workspaces.workspaces import Wish, Workspace

Plain = dict[str, Json]
WAITING: dict[Wish, str | None] = {
    "": None,
    "make": "making",
    "merge": "merging",
    "remove": "removing",
    "push": "pushing",
}


def workspace(one: Workspace, tasks: Sequence[str]) -> Plain:
    """One that is being made is active already for who asks: it only has to wait."""
    return {
        "id": one.id,
        "workflow_id": one.board or None,
        "branch": one.branch,
        "base_branch": one.base_branch or None,
        "base_commit": one.base_commit,
        "merge_into": one.merge_into or None,
        "repo_path": one.repo_path or one.repo or None,
        "worktree_path": one.path,
        "status": "active" if one.status == "creating" else one.status,
        "waiting": WAITING[one.wanted],
        "merge_commit": one.merge_commit if one.status == "merged" else None,
        "kept_branch": one.kept_branch,
        "task_ids": list(tasks),
        "created_by": one.created_name,
        "created_at": clock.to_iso(one.made_at),
        "closed_at": clock.to_iso(one.closed_at) if one.closed_at else None,
        "error": str(one.error) if one.error is not None else None,
        "conflicts": [{"file": each.file, "kind": each.kind} for each in one.conflicts],
    }
