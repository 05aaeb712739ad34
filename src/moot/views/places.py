"""Which folder on disk the files of an instance lie in."""

from pathlib import Path

from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.documents import places


@record
class Spot:
    """A folder by its name in the one above, and the name of the channel's file in it."""

    above: Path
    name: str
    channel: str

    @property
    def path(self) -> Path:
        return self.above / self.name


def spot(tx: ReadTx, ours: Path, instance: InstanceName) -> Spot | None:
    """`ours` is moot's own folder, right below the project's root. None if the instance has no files."""
    found = places.place(tx, instance)
    if not found.is_kept:
        return None
    if found.folder is None:
        return Spot(ours, instance, found.channel)
    path = ours.parent / found.folder
    return Spot(path.parent, path.name, found.channel)
