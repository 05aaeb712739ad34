"""What an instance that is deleted has left behind in git: branches that are not merged, worktrees that stay."""

from typing import TYPE_CHECKING

from moot.cli import terminal
from moot.core.json import Json

if TYPE_CHECKING:
    from moot.api.workspaces import Retired


def document(retired: "Retired") -> dict[str, Json]:
    left: list[Json] = [{"worktree_path": one.where, "error": str(one.error)} for one in retired.left]
    return {"branches": list(retired.kept), "left": left}


def tell(retired: "Retired") -> None:
    for branch in retired.kept:
        terminal.say(f"  not merged, and kept: {branch}; merge it with: git merge {branch}")
    for one in retired.left:
        terminal.note(f"  left as it is: {one.where}: {one.error}")
