"""Stores with a long history, made without durability: for questions about what grows with it."""

from pathlib import Path

import apsw

from bench.sending import BODY
from moot.core.ids import AgentId, StreamId

UNREAD = 10  # for each of the two members, evenly over all time
_CHUNK = 50_000
_MEMBERS = 10

_NUMBERS = """
with recursive number(seq) as (select :start + 1 union all select seq + 1 from number where seq < :end)
insert into temp.numbers select seq from number
"""
_EVENTS = """
insert into events (stream, seq, kind, subject, data, actor, at)
select :stream, seq, 'message_posted', printf('ms_%020d', seq), '{"from":"sender","kind":"message","to":[]}', 'sender',
  1700000000000000 + seq from temp.numbers
"""
_MESSAGES = """
insert into messages (stream, seq, id, sender, kind, body, mentions, priority, thread, at)
select :stream, seq, printf('ms_%020d', seq), 'sender', 'message', :body, '["reader"]', 'normal',
  printf('ms_%020d', seq), 1700000000000000 + seq from temp.numbers
"""
_MAIL = """
insert into mailbox (stream, seq, agent, state, priority, delivered_at, acked_at)
select :stream, seq, case seq % :members when 0 then :first when 1 then :second else 'ag_' || (seq % :members) end,
  iif(seq % :step < 2, 'queued', 'acked'), 'normal', iif(seq % :step < 2, null, 1), iif(seq % :step < 2, null, 1)
from temp.numbers
"""
_HEAD = "update streams set seq = :end, reacted = :end where id = :stream"


def add(file: Path, stream: StreamId, members: tuple[AgentId, AgentId], size: int) -> None:
    """So many messages to ten members, all done with but a few for two of them."""
    connection = apsw.Connection(str(file))
    connection.pragma("synchronous", "off")
    connection.execute("create temp table numbers (seq integer primary key)")
    facts = {"stream": stream, "body": BODY, "members": _MEMBERS, "step": size // UNREAD}
    facts |= {"first": members[0], "second": members[1]}
    found = connection.execute("select seq from streams where id = ?", (stream,)).fetchall()[0][0]
    assert isinstance(found, int)
    end = found + size
    for start in range(found, end, _CHUNK):
        _add_chunk(connection, facts | {"start": start, "end": min(start + _CHUNK, end)})
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


def _add_chunk(connection: apsw.Connection, facts: dict[str, str | int]) -> None:
    with connection:
        for statement in (_NUMBERS, _EVENTS, _MESSAGES, _MAIL, _HEAD, "delete from temp.numbers"):
            connection.execute(statement, facts)
