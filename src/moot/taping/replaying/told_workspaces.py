"""Workspaces of a replay: what git came to is on the tape, and is written down without running it. Their rows are there
while the replay goes on, for the tools that show and change them; no branch and no worktree is made, moved or removed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName, WorkspaceId
from moot.core.tx import Tx
from moot.store.store import Store
from moot.taping.replaying.performance import Performance
from moot.taping.tape import Happened
from moot.workspaces import errors, workspaces
from moot.workspaces.errors import RepositoryElsewhere
from moot.workspaces.outcomes import Conflict
from moot.workspaces.workspaces import Plan, Workspace

_WISHES = {workspaces.MADE: "make", workspaces.MERGED: "merge", workspaces.REMOVED: "remove"}


class ToldWorkspaces:
    def __init__(self, performance: Performance) -> None:
        self.alone = asyncio.Lock()
        self._performance = performance
        self._left: dict[tuple[str, str], deque[Happened]] = {}  # by branch and wish, in their order
        self._known = set[WorkspaceId]()
        for line in performance.tape.lines:
            if isinstance(line, Happened) and (wish := _WISHES.get(line.kind) or str(line.facts.get("wanted", ""))):
                self._left.setdefault((performance.plain(str(line.facts["branch"])), wish), deque()).append(line)

    def is_about(self, instance: InstanceName) -> bool:
        return instance == self._performance.instance

    def outcome(self, one: Workspace) -> Callable[[Tx], None]:
        self._known.add(one.id)
        left = self._left.get((self._performance.plain(one.branch), one.wanted))
        if left:
            return partial(_write, one=one, told=left.popleft())
        self._performance.drifts.add(f"the recording does not say what comes of the workspace on {one.branch}")
        error = RepositoryElsewhere("The recording does not say what comes of it.", "Record it anew.")
        return lambda tx: workspaces.refused(tx, one.id, error)

    async def close(self, store: Store) -> None:
        """All is played: whoever works in this instance next finds no worktree that was never made."""
        known = sorted(self._known)
        await store.write(lambda tx: [workspaces.close_unmade(tx, id) for id in known], caller=SYSTEM)


def _write(tx: Tx, one: Workspace, told: Happened) -> None:
    facts, trouble = told.facts, cast(Mapping[str, Any], told.facts.get("trouble") or {})
    error = errors.of(str(trouble["code"]))(str(trouble["fact"]), str(trouble["remedy"])) if trouble else None
    found = cast(Sequence[Mapping[str, str]], trouble.get("conflicts", ()))
    conflicts = tuple(Conflict(each["file"], each["kind"]) for each in found)
    match told.kind:
        case workspaces.MADE:
            workspaces.plan(tx, one.id, _plan(facts, told.subject, one.id))
            workspaces.made(tx, one.id, error, conflicts)
        case workspaces.MERGED:
            workspaces.merged(tx, one.id, str(facts["commit"]), error)
        case workspaces.REMOVED:
            workspaces.removed(tx, one.id, facts["kept"])
        case _:
            assert error is not None
            workspaces.refused(tx, one.id, error, conflicts)


def _plan(facts: Mapping[str, Any], recorded: str, now: str) -> Plan:
    """Its folder is called by its id, and may be there under the recorded one."""
    return Plan(
        repo_path=str(facts["repo_path"] or ""),
        path=str(facts["path"] or recorded).replace(recorded, now),
        base_branch=str(facts["base_branch"]),
        base_commit=str(facts["base_commit"] or ""),
        is_branch_ours=bool(facts["is_branch_ours"]),
    )
