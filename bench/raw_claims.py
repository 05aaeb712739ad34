"""The rows of a task that is claimed and completed, written with apsw alone: what SQLite itself costs.

Everything is decided that has to be: whether the board is open, the task free, the claim still held, and anything left
to do.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from bench.boards import OUTCOME, Desk
from moot.core.ids import TaskId

_CLAIM = """
update tasks set status = 'planning', holder = ?2, hand = ?2, fence = fence + 1, lease_until = ?3, started_at = ?4,
  updated_at = ?4
where id = ?1 and status = 'pending' and blockers = 0
  and exists (select 1 from boards where id = tasks.board and status in ('ready', 'in_progress'))
returning fence
"""
_COMPLETE = """
update tasks set status = 'completed', holder = null, hand = null, lease_until = null, outcome = ?3, done_by = ?2,
  ended_at = ?4, updated_at = ?4
where id = ?1 and hand = ?2 and lease_until > ?4
returning name
"""
_UNBLOCK = """
update tasks set blockers = blockers - 1 where id in (select task from task_edges where needs = ? and kind = 'blocks')
"""
_IS_LEFT = "select 1 from tasks where board = ? and status = 'pending' and blockers = 0 limit 1"
_TAKE_NUMBER = "update streams set seq = seq + 1, at = max(at, ?2) where id = ?1 returning seq"
_ADD_EVENT = "insert into events (stream, seq, kind, subject, data, actor, at) values (?, ?, ?, ?, ?, ?, ?)"
_LEASE = 300_000_000


class RawClaims:
    """Writes to the tables of a store, in one thread, durable as moot is."""

    def __init__(self, folder: Path, desk: Desk) -> None:
        self._connection = apsw.Connection(str(folder / "moot.db"))
        self._connection.set_busy_timeout(30_000)
        self._connection.pragma("synchronous", "full")
        self._connection.pragma("foreign_keys", True)
        self._board, self._stream, self._worker = desk.board.id, desk.board.stream, desk.worker.agent

    def work_for(self, ids: Iterator[TaskId], seconds: float) -> float:
        """Seconds for one task."""
        count, started = 0, time.monotonic()
        while time.monotonic() - started < seconds:
            self.do(next(ids))
            count += 1
        return (time.monotonic() - started) / count

    def do(self, id: TaskId) -> None:
        """Two commits."""
        self._claim(id)
        self._complete(id)

    def close(self) -> None:
        self._connection.close()

    def _claim(self, id: TaskId) -> None:
        now = time.time_ns() // 1000
        self._connection.execute("begin immediate")
        assert self._execute(_CLAIM, (id, self._worker, now + _LEASE, now))
        self._note("task_claimed", id, f'{{"name":"{id}","by":"worker","fence":1}}', now)
        self._connection.execute("commit")

    def _complete(self, id: TaskId) -> None:
        now = time.time_ns() // 1000
        self._connection.execute("begin immediate")
        assert self._execute(_COMPLETE, (id, self._worker, OUTCOME, now))
        self._execute(_UNBLOCK, (id,))
        self._note("task_status", id, f'{{"name":"{id}","status":"completed"}}', now)
        assert self._execute(_IS_LEFT, (self._board,))
        self._connection.execute("commit")

    def _note(self, kind: str, id: TaskId, data: str, now: int) -> None:
        ((seq,),) = self._execute(_TAKE_NUMBER, (self._stream, now))
        self._execute(_ADD_EVENT, (self._stream, seq, kind, id, data, "worker", now))

    def _execute(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()
