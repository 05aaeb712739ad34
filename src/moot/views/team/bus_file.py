"""`bus.sqlite`: messages, mailboxes and control requests of a team as a small database of its own, made anew each time.
Whatever is written into it is lost."""

from collections.abc import Iterable
from typing import cast

import apsw

from moot.core import json
from moot.core.json import Json
from moot.views.team import files
from moot.views.team.picture import Picture

NAME = "bus.sqlite"
# By these it is known which database is one of ours: another program's is not written over.
APPLICATION_ID = 0x6D6F6F74
_MAGIC, _PLACE = b"SQLite format 3\x00", slice(68, 72)
HEADER = 100  # bytes
_Value = str | int | None
# Not in a file beside this one: those hold statements of the store, and this is a database of its own.
_TABLES = """
create table members (name text primary key, role text not null, agent_id text, presence text not null);
create table messages (
  id integer primary key, message_id text not null, room text not null, at text not null, sender text not null,
  recipients text not null, kind text not null, body text not null, priority text not null, thread text not null,
  reply_to text, task_id text, request_id text, approve integer
);
create table mailbox (
  message integer not null references messages (id), agent text not null, status text not null,
  primary key (message, agent)
) without rowid;
create table control_requests (
  request_id text primary key, type text not null, sender text not null, recipient text not null, title text not null,
  body text not null, mode text, hash text not null, status text not null, approve integer, answer text not null,
  answered_by text, message_id text, created_at text not null, expires_at text, answered_at text
);
"""
_MEMBER = "insert into members values (:name, :role, :agent_id, :presence)"
_MESSAGE = """
insert into messages values (
  :seq, :id, :room, :timestamp, :from, :to, :kind, :message, :priority, :thread, :reply_to, :task_id, :request_id,
  :approve
)
"""
_MAIL = "insert into mailbox values (:seq, :agent, :status)"
_REQUEST = """
insert into control_requests values (
  :request_id, :type, :from, :to, :title, :body, :mode, :hash, :status, :approve, :answer, :answered_by, :message_id,
  :created_at, :expires_at, :answered_at
)
"""


def content(picture: Picture) -> bytes:
    database = apsw.Connection(":memory:")
    try:
        database.pragma("application_id", APPLICATION_ID)
        database.pragma("user_version", 1)
        with database:
            database.execute(_TABLES)
            database.executemany(_MEMBER, _members(picture))
            database.executemany(_MESSAGE, _messages(picture))
            database.executemany(_MAIL, _mail(picture))
            database.executemany(_REQUEST, (_flat(one) for one in files.control(picture)))
        return database.serialize("main")
    finally:
        database.close()


def is_foreign(header: bytes) -> bool:
    """Whether this is the beginning of a database that somebody else has made."""
    is_database = len(header) >= HEADER and header.startswith(_MAGIC)
    return is_database and int.from_bytes(header[_PLACE], "big") != APPLICATION_ID


def _members(picture: Picture) -> Iterable[dict[str, _Value]]:
    for one in picture.standing.members:
        yield {"name": one.name, "role": one.part, "agent_id": one.id, "presence": one.said or "offline"}


def _messages(picture: Picture) -> Iterable[dict[str, _Value]]:
    for one in picture.letters:
        yield {"room": files.ROOM, **_flat(files.letter(one, is_read=False))}


def _mail(picture: Picture) -> Iterable[dict[str, _Value]]:
    for letter in picture.letters:
        for name, state in letter.boxes:
            status = "unread" if state in ("queued", "delivered", "parked") else "read"
            yield {"seq": letter.message.seq, "agent": name, "status": status}


def _flat(one: Json) -> dict[str, _Value]:
    """As SQLite takes it: truth as a number, lists as JSON."""
    return {name: _value(value) for name, value in json.an_object(one).items()}


def _value(value: Json) -> _Value:
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value) if isinstance(value, list) else cast(_Value, value)
