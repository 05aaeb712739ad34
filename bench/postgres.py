"""The peer: a durable send with NOTIFY on PostgreSQL.

It gets the best of everything: the three rows and the NOTIFY in one prepared statement and one round trip, numbers from
a sequence (moot's gap-free counter would make senders wait for each other's commit), a unix socket.
"""

import psycopg

from bench import sending

CHANNEL = "sent"
Connection = psycopg.Connection[tuple[int, str]]

TABLES = """
create sequence numbers;
create table events (
  stream text, seq bigint, kind text not null, subject text not null, data text not null, actor text not null,
  at bigint not null, primary key (stream, seq));
create table messages (
  stream text, seq bigint, id text not null unique, sender text not null, sender_id text, kind text not null,
  body text not null, mentions text not null, priority text not null, thread text not null, reply_to text,
  task_id text, attempt text, at bigint not null, primary key (stream, seq));
create index messages_of_thread on messages (thread, seq) where reply_to is not null;
create index messages_of_attempt on messages (attempt) where attempt is not null;
create table mailbox (
  stream text, seq bigint, agent text, state text not null, priority text not null, attempt text,
  rejoined integer not null default 0, delivered_at bigint, acked_at bigint, primary key (stream, seq, agent));
create index mailbox_unread on mailbox (agent, seq) where state in ('queued', 'delivered');
create index mailbox_parked on mailbox (agent, seq) where state = 'parked';
"""

_SEND = """
with number as (select nextval('numbers') as seq, (extract(epoch from clock_timestamp()) * 1000000)::bigint as at),
event as (
  insert into events select 'in_bench', seq, 'message_posted', %(id)s,
    '{"from":"sender","kind":"message","to":["ag_reader"]}', 'sender', at from number),
message as (
  insert into messages select 'in_bench', seq, %(id)s, 'sender', 'ag_sender', 'message', %(body)s, '["reader"]',
    'normal', %(id)s, null, null, null, at from number),
mail as (
  insert into mailbox (stream, seq, agent, state, priority)
  select 'in_bench', seq, 'ag_reader', 'queued', 'normal' from number)
select pg_notify('sent', seq::text) from number
"""

_AFTER = "select seq, body from messages where stream = 'in_bench' and seq > %s order by seq"


def connect(uri: str) -> Connection:
    connection = psycopg.connect(uri, autocommit=True)
    connection.prepare_threshold = 0
    return connection


def send(connection: Connection, id: str, body: str = sending.BODY) -> None:
    """Three rows and a NOTIFY, in one transaction and one round trip."""
    connection.execute(_SEND, {"id": id, "body": body})


def after(connection: Connection, seq: int) -> list[tuple[int, str]]:
    """Numbers and bodies behind a number."""
    return connection.execute(_AFTER, (seq,)).fetchall()
