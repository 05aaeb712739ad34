"""Keeps the files people read in step with the store for as long as a host runs: `channel.md`, who has read how far,
what was voted on, how clients connect. None of them is ever read back."""

import logging
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from moot.bus import mailbox, messages
from moot.bus.mailbox import Counts
from moot.core import folder
from moot.core.ids import AgentId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import instances
from moot.registry.instances import Instance
from moot.store import feed
from moot.store.store import Store
from moot.views import instance_files, keeping, places
from moot.views.channel_file import ChannelFile, Mark

_log = logging.getLogger("moot.views")
_trouble = logging.getLogger("moot.views.trouble")  # what a person is told
_CHUNK = 1000  # messages read at once
SOCKET = "context.sock"
LOCK = ".views.lock"


@record
class _Standing:
    """What tells whether the files of an instance are as they should be."""

    head: int  # of its events
    mail: dict[AgentId, Counts]  # reading is no event


class LiveViews:
    """`keeping` while a block runs, or `look` once."""

    def __init__(self, store: Store, above: Path, *, is_anew: bool = False) -> None:
        self._store = store
        self._above = above
        self._is_anew = is_anew  # whatever is there already
        self._shown: dict[StreamId, _Standing] = {}
        self._told: set[str] = set()
        self.problems: list[str] = []  # of the last look

    def keeping(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, and once more when it has ended."""
        return keeping.kept(self.run, self.look, "the files people read")

    async def run(self) -> None:
        await keeping.follow(self._store, self.look)

    async def look(self) -> list[Path]:
        """Write what has changed; the files."""
        written: list[Path] = []
        self.problems = []
        for instance, standing in await self._store.read(_standings):
            if self._shown.get(instance.stream) != standing:
                written += await self._bring_one(instance, standing)
        return written

    async def _bring_one(self, instance: Instance, standing: _Standing) -> list[Path]:
        """What is in the way of one instance's files is no reason to leave out the others'."""
        try:
            return await self._bring(instance, standing)
        except OSError as error:
            self._note(f"The files of {instance.name} cannot be written: {keeping.told(error)}.")
            return []

    def _note(self, problem: str) -> None:
        """Said once, for a look comes with every change; who asked for all of them anew is told by the problems."""
        self.problems.append(problem)
        if problem not in self._told and not self._is_anew:
            self._told.add(problem)
            _trouble.warning("%s", problem)

    async def _bring(self, instance: Instance, standing: _Standing) -> list[Path]:
        where = await self._store.read(lambda tx: places.spot(tx, self._above, instance.name))
        if where is None:
            self._shown[instance.stream] = standing
            return []
        small = await self._store.read(lambda tx: instance_files.contents(tx, instance))
        with folder.opened(where.above, where.name, create=True) as place:
            if place is None:
                return []
            with place.alone(LOCK) as is_alone:
                if not is_alone:
                    return []  # another host shows the same, and what it misses is seen at the next look
                names = await self._write(ChannelFile(place, where.channel), instance, small)
        self._shown[instance.stream] = standing
        return [where.path / name for name in names]

    async def _write(self, channel: ChannelFile, instance: Instance, small: dict[str, bytes]) -> list[str]:
        changed = [channel.name] if await self._extend(channel, instance) else []
        changed += instance_files.write(channel.place, small, is_anew=self._is_anew)
        channel.place.link(SOCKET, str(self._above.absolute() / "moot.sock"))
        return changed

    async def _extend(self, channel: ChannelFile, instance: Instance) -> bool:
        """In pieces, so that no read holds a snapshot for long and no view has to fit into memory."""
        mark = Mark(instance.stream) if self._is_anew else channel.mark(instance.stream)
        is_changed = False
        while True:
            seq = mark.seq
            said = await self._store.read(lambda tx, seq=seq: messages.after(tx, instance.stream, seq, _CHUNK))
            if not said and mark.size:
                return is_changed
            reached = channel.extend(mark, said)
            if reached is None:
                return is_changed
            mark, is_changed = reached, True
            if not said:
                return is_changed


def _standings(tx: ReadTx) -> list[tuple[Instance, _Standing]]:
    return [(instance, _standing(tx, instance.stream)) for instance in instances.all_of(tx)]


def _standing(tx: ReadTx, stream: StreamId) -> _Standing:
    return _Standing(feed.end(tx, stream).get(stream, 0), mailbox.counts(tx, stream))
