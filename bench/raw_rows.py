"""The rows of a durable send written with apsw alone: what SQLite itself costs."""

import time
from pathlib import Path
from typing import Any

import apsw

from bench.sending import BODY, Channel, Tally

_TAKE_NUMBER = "update streams set seq = seq + 1, at = max(at, ?2) where id = ?1 returning seq"
_ADD_EVENT = "insert into events (stream, seq, kind, subject, data, actor, at) values (?, ?, ?, ?, ?, ?, ?)"
_ADD_MESSAGE = """
insert into messages (stream, seq, id, sender, sender_id, kind, body, mentions, priority, thread, at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_MAIL = "insert into mailbox (stream, seq, agent, state, priority) values (?, ?, ?, ?, ?)"


class RawRows:
    """Writes to the tables of a store, in one thread, durable as moot is."""

    def __init__(self, folder: Path, channel: Channel) -> None:
        self._connection = apsw.Connection(str(folder / "moot.db"))
        self._connection.set_busy_timeout(30_000)
        self._connection.pragma("synchronous", "full")
        self._connection.pragma("foreign_keys", True)
        self._channel = channel
        self._data = f'{{"from":"sender","kind":"message","to":["{channel.reader}"]}}'
        self._prefix = f"ms_{time.monotonic_ns():x}_"
        self._count = 0

    def send(self) -> None:
        """One send, one commit."""
        self._connection.execute("begin immediate")
        self._add()
        self._connection.execute("commit")

    def send_for(self, seconds: float) -> Tally:
        count, started, cpu = 0, time.monotonic(), time.process_time()
        while time.monotonic() - started < seconds:
            self.send()
            count += 1
        return Tally(count, time.monotonic() - started, time.process_time() - cpu)

    def close(self) -> None:
        self._connection.close()

    def _add(self) -> None:
        self._count += 1
        id, now, execute = f"{self._prefix}{self._count}", time.time_ns() // 1000, self._execute
        stream, sender, reader = self._channel.stream, self._channel.sender, self._channel.reader
        ((seq,),) = execute(_TAKE_NUMBER, (stream, now))
        execute(_ADD_EVENT, (stream, seq, "message_posted", id, self._data, "sender", now))
        execute(_ADD_MESSAGE, (stream, seq, id, "sender", sender, "message", BODY, '["reader"]', "normal", id, now))
        execute(_ADD_MAIL, (stream, seq, reader, "queued", "normal"))

    def _execute(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()
