"""The index of words on SQLite, brought up to date a chunk at a time so that no transaction is slow."""

from moot.core.ids import InstanceName, StreamId
from moot.core.records import record
from moot.core.tx import Tx
from moot.store import queries

sql = queries.beside(__file__)
MOST_ROWS = 500
MOST_BYTES = 500_000  # of the texts in one chunk, but for the last one


@record
class _Outdated:
    id: int | None  # of the words that are there now
    folded: str
    hash: str
    size: int


def catch_up(tx: Tx, stream: StreamId, instance: InstanceName) -> bool:
    """Take in the next chunk of what was said or written; False if there was none."""
    return _messages(tx, stream) or _documents(tx, instance)


def _messages(tx: Tx, stream: StreamId) -> bool:
    mark = tx.maybe(sql.mark, int, stream=stream) or 0
    until = tx.one(sql.chunk_end, int, stream=stream, mark=mark, rows=MOST_ROWS, bytes=MOST_BYTES)
    if not until:
        return False
    tx.run(sql.add_messages, stream=stream, mark=mark, until=until)
    tx.run(sql.set_mark, stream=stream, seq=until)
    return True


def _documents(tx: Tx, instance: InstanceName) -> bool:
    outdated = tx.all(sql.outdated, _Outdated, instance=instance, rows=MOST_ROWS)
    taken = 0
    for one in outdated:
        if taken >= MOST_BYTES:
            break
        taken += one.size
        if one.id is not None:
            tx.run(sql.forget_document, id=one.id)
        id = tx.one(sql.mark_document, int, instance=instance, folded=one.folded, hash=one.hash)
        tx.run(sql.add_document, id=id, hash=one.hash)
    return bool(outdated)
