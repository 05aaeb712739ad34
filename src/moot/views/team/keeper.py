"""Keeps the files of all teams in step with the store for as long as a host runs."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from moot.core.ids import InstanceName
from moot.store.store import Store
from moot.views import keeping
from moot.views.team import picture as pictures
from moot.views.team.picture import Standing
from moot.views.team.writing import TeamFolder

_trouble = logging.getLogger("moot.views.trouble")  # what a person is told
_LOOKS, _AGAIN_SECONDS = 20, 0.1
_BEAT = 10.0  # seconds after which heartbeats are looked at, which ring no bell


class TeamViews:
    """`keeping` while a block runs, or `look` once."""

    def __init__(self, store: Store, root: Path, *, is_anew: bool = False) -> None:
        self._store = store
        self._folder = TeamFolder(root)
        self._is_anew = is_anew  # whatever is there already
        self._shown: dict[InstanceName, Standing] = {}
        self._told: set[str] = set()
        self.problems: list[str] = []  # of the last look

    def keeping(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, and once more when it has ended."""
        return keeping.kept(self.run, self.settle, "the files of teams")

    async def run(self) -> None:
        await keeping.follow(self._store, self.look, longest=_BEAT)

    async def look(self, only: InstanceName | None = None) -> list[Path]:
        """Write what has changed; the files."""
        written: list[Path] = []
        self.problems = []
        found = await self._store.read(pictures.standings)
        for standing in found:
            name = standing.team.instance
            if only in (None, name) and self._shown.get(name) != standing:
                written += await self._bring(standing)
        await self._remove_gone({one.team.instance for one in found})
        return written

    async def settle(self, only: InstanceName | None = None) -> None:
        """Until everything is shown. Another process that is at it may have read before the last change, and may be
        gone before the next."""
        for _ in range(_LOOKS):
            await self.look(only)
            found = await self._store.read(pictures.standings)
            wanted = [one for one in found if only in (None, one.team.instance)]
            if self.problems or all(self._shown.get(one.team.instance) == one for one in wanted):
                return
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _bring(self, standing: Standing) -> list[Path]:
        """What is in the way of one team's files is no reason to leave out the others'."""
        name = standing.team.instance
        picture = await pictures.take(self._store, standing)
        # In a thread: to write a long conversation takes longer than anybody in this process should wait.
        writing = asyncio.to_thread(self._folder.write, picture, is_anew=self._is_anew)
        try:
            written = await keeping.unbroken(writing)
        except OSError as error:
            self._note(f"The files of the team {name} cannot be written: {keeping.told(error)}.")
            return []
        if written is not None:  # else another host shows the same, and what it misses is seen at the next look
            self._shown[name] = standing
        return written or []

    async def _remove_gone(self, here: set[InstanceName]) -> None:
        for name in self._shown.keys() - here:
            if await keeping.unbroken(asyncio.to_thread(self._folder.remove, name)):
                del self._shown[name]

    def _note(self, problem: str) -> None:
        """Said once, for a look comes with every change; who asked for all of them anew is told by the problems."""
        self.problems.append(problem)
        if problem not in self._told and not self._is_anew:
            self._told.add(problem)
            _trouble.warning("%s", problem)
