"""Cleaning up after a moot that was killed: ends what still carries a marker that its store remembers."""

from moot.core.records import record
from moot.process import tree


@record
class Swept:
    ended: tuple[int, ...]
    survivors: tuple[int, ...]  # outlived SIGKILL


def kill_marked(marker: str) -> Swept:
    """Kill every process that was started under the marker, but never this one."""
    marked = tree.Tree(marker)
    found = marked.members()
    survivors = tree.kill(marked) if found else ()
    return Swept(tuple(found.difference(survivors)), survivors)
