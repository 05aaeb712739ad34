"""A child and all that descends from it: found by process group and by marker, asked to go, then killed.

What leaves the group, clears its environment and outlives its parent is beyond finding.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from signal import SIGKILL, SIGTERM, Signals

from moot.core.records import record
from moot.process import environment
from moot.process.table import system

_KILL_SECONDS = 5.0
_MOST_LOOKS = 100
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1


@record
class Tree:
    """`group` is the pid of a child that stays unreaped until the tree is ended, so it is no stranger's."""

    marker: str
    group: int | None = None

    def members(self) -> set[int]:
        """The living ones, without us.

        Looks again until nobody new has appeared: a member may fork and be gone before its turn comes.
        """
        members: set[int] = set()
        seen = {os.getpid()}
        for _ in range(_MOST_LOOKS):
            fresh = set(system.pids()) - seen
            if not fresh:
                break
            seen |= fresh
            members.update(pid for pid in fresh if self._holds(pid) and system.started(pid) is not None)
        return members

    def signal(self, pids: Iterable[int], number: Signals) -> None:
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                if self._holds(pid):  # asked again: the pid may have changed hands since the scan
                    os.kill(pid, number)

    def signal_together(self, pids: Iterable[int], number: Signals) -> None:
        """Signal the group at one stroke, lest a shell sees its command go and carries on; then the others."""
        with suppress(ProcessLookupError, PermissionError):
            if self.group is not None:
                os.killpg(self.group, number)
        self.signal((pid for pid in pids if _group_of(pid) != self.group), number)

    def _holds(self, pid: int) -> bool:
        group = _group_of(pid)
        if not group:
            return False
        return group == self.group or environment.carries(system.variable(pid, environment.MARKER), self.marker)


def _group_of(pid: int) -> int:
    """0 for the gone and for threads of the kernel."""
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return 0


async def end(tree: Tree, grace: float) -> tuple[int, ...]:
    """Ask the tree to go and kill it after the grace; gives the pids that outlived even that."""
    if await _leaves_within(tree, grace):
        return ()
    for pause in _killing(tree):
        await asyncio.sleep(pause)
    return tuple(tree.members())


def kill(tree: Tree) -> tuple[int, ...]:
    """Kill the tree without a word and without giving way to other tasks; gives the pids that outlived it."""
    for pause in _killing(tree):
        time.sleep(pause)
    return tuple(tree.members())


async def _leaves_within(tree: Tree, seconds: float) -> bool:
    """Ask each member once, those born meanwhile too, and see whether all are gone in time."""
    until = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    asked: set[int] = set()
    while members := tree.members():
        if asked:
            tree.signal(members - asked, SIGTERM)
        else:
            tree.signal_together(members, SIGTERM)
        asked |= members
        left = until - time.monotonic()
        if left <= 0:
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return True


def _killing(tree: Tree) -> Iterator[float]:
    """Kill in rounds, as members may fork between scan and signal; gives the pause before the next round."""
    until = time.monotonic() + _KILL_SECONDS
    while (members := tree.members()) and time.monotonic() < until:
        tree.signal_together(members, SIGKILL)
        yield _FIRST_PAUSE
