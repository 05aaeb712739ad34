"""The job before a review: what every worker has changed is committed where it was left, and written into a document
that all who judge can read, wherever they run. Done again after a crash, it comes to the same."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.ids import RunId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import documents, ownership
from moot.jobs import jobs
from moot.jobs.jobs import Job, JobLost
from moot.registry import runs
from moot.runner import upkeep
from moot.runner.teams import reviewing, situation
from moot.runner.worker import Task
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.teams import reviews
from moot.tools import teamwork
from moot.workspaces import changes
from moot.workspaces.errors import WorkInside
from moot.workspaces.workspaces import Workspace
from moot.workspaces.worktrees import Worktree

_ELSEWHERE = timedelta(seconds=2)  # until a host looks again at what only another can see
_MOST = 200_000  # characters of what one worker has changed


@record
class MaterialWorker:
    """Carries out the jobs of kind `team_material`."""

    store: Store
    worktrees: Worktrees

    def begin(self, tx: Tx, job: Job) -> Task | None:
        spaces = _spaces(tx, RunId(job.subject))
        if any(one.place not in ("", self.worktrees.place) for one in spaces):
            jobs.postpone(tx, job, tx.now + _ELSEWHERE)
            return None
        return partial(self._carry_out, job)

    def late(self, tx: Tx, job: Job) -> None:
        """These jobs have no deadline."""

    def lost(self, tx: Tx, job: Job) -> None:
        """What was committed is committed; the next owner looks anew."""

    async def _carry_out(self, job: Job) -> None:
        try:
            spaces = await self.store.read(lambda tx: _spaces(tx, RunId(job.subject)))
            text = "\n".join([await self._section(one) for one in spaces]) or "(nothing was changed)\n"
        except asyncio.CancelledError:
            await self._settle(lambda tx: jobs.put_back(tx, job))
            raise
        await self._settle(lambda tx: _ask(tx, job, text))

    async def _section(self, one: Workspace) -> str:
        heading = f"## {one.created_name}: {one.branch}\n\n"
        try:
            patch, inside = await self._changed(one)
        except MootError as error:  # who judges is told, and can look there
            return f"{heading}It could not be looked at: {error}\n"
        missing = "" if inside is None else f"\nThis is on no branch ({inside.code}): {inside}\n"
        return f"{heading}```diff\n{patch}\n```\n{missing}"

    async def _changed(self, one: Workspace) -> tuple[str, WorkInside | None]:
        """As a patch, and what no commit can keep."""
        repository = await self.worktrees.repository(one)
        worktree = Worktree(one.id, repository, self.worktrees.grounds)
        async with self.worktrees.grounds.alone(one.id):
            await upkeep.let_end(one)
            await upkeep.keep(one, worktree)
            patch = (await changes.made(one, worktree)).decode(errors="replace").replace("\0", "\\0")
            inside = await worktree.inside()
        return (patch if len(patch) <= _MOST else f"{patch[:_MOST]}\n… (the rest is on the branch)"), inside

    async def _settle(self, change: Callable[[Tx], None]) -> None:
        with contextlib.suppress(JobLost):
            await self.store.write(change, caller=SYSTEM)


def _spaces(tx: ReadTx, id: RunId) -> list[Workspace]:
    now = situation.look(tx, runs.get(tx, id))
    found = [] if now is None else situation.spaces(tx, now)
    return [one for one in found if one.repo_path is not None]


def _ask(tx: Tx, job: Job, text: str) -> None:
    run = runs.get(tx, RunId(job.subject))
    tx.lock("instances", run.instance)
    teamwork.finish(tx, job)
    now = situation.look(tx, run)
    if now is None or now.team.stage != "reviewing" or reviews.of_round(tx, now.team):
        return
    document = f"review-{now.team.round}.md"
    documents.write(tx, run.instance, document, f"# Round {now.team.round}\n\n{text}", ownership.SYSTEM)
    reviewing.ask(tx, now, document)
