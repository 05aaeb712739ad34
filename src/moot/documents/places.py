"""Where the files of an instance lie: in a folder of moot's own, or where its workflow says."""

from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.documents import ownership, paths
from moot.store import queries

sql = queries.beside(__file__)
CHANNEL = "channel.md"


@record
class Place:
    folder: str | None = None  # below the project's root; None: moot's own for this instance
    channel: str = CHANNEL
    is_kept: bool = True  # False: its agents share nothing, and it has no files

    def is_taken(self, path: str) -> bool:
        """Whether a document cannot have this name, because the channel has it."""
        return paths.fold(path) == paths.fold(self.channel)


def place(tx: ReadTx, instance: InstanceName) -> Place:
    return tx.maybe(sql.find, Place, instance=instance) or Place()


def sharing(tx: ReadTx, instance: InstanceName, folder: str) -> list[InstanceName]:
    """Other instances whose files lie in the same folder."""
    return [InstanceName(name) for name in tx.all(sql.sharing, str, instance=instance, folder=folder)]


def put(tx: Tx, instance: InstanceName, where: Place) -> None:
    ownership.hold(tx, instance)
    tx.run(sql.put, instance=instance, folder=where.folder, channel=where.channel, is_kept=where.is_kept)
