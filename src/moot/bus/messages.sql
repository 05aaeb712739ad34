-- last_of_attempt: What an attempt has said last.
select body from messages where attempt = :attempt and stream = :stream order by seq desc limit 1

-- has_asked: Whether an attempt has said something that somebody is to answer.
select 1 from messages where attempt = :attempt and stream = :stream and kind in ('question', 'blocker') limit 1

-- add: Write a message under its event's number, with its event's time.
insert into messages (
  stream, seq, id, sender, sender_id, kind, body, mentions, priority, thread, reply_to, task_id, attempt, hops, rally,
  partner, at
) values (
  :stream, :seq, :id, :sender, :sender_id, :kind, :body, :mentions, :priority, :thread, :reply_to, :task_id, :attempt,
  :hops, :rally, :partner, :at
)

-- add_mail: Put it into one recipient's mailbox.
insert into mailbox (stream, seq, agent, state, priority, acked_at)
values (:stream, :seq, :agent, :state, :priority, :acked_at)

-- get: One message by id.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages where id = :id

-- last_word: Who spoke last, and how that stands.
select sender_id, rally, partner from messages where stream = :stream order by seq desc limit 1

-- latest: The last messages of a stream, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages where stream = :stream order by seq desc limit :limit

-- latest_with: The last messages of a stream that an agent has said or heard, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream and (sender = :name or exists (
  select 1 from mailbox where mailbox.stream = messages.stream and mailbox.seq = messages.seq and agent = :agent))
order by seq desc limit :limit

-- latest_after: The last messages behind a number, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages where stream = :stream and seq > :seq order by seq desc limit :limit

-- after: Messages behind a number.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages where stream = :stream and seq > :seq order by seq limit :limit

-- of_thread: The last messages of a thread, its root included, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages where id = :thread or (thread = :thread and reply_to is not null) order by seq desc limit :limit

-- count_by_sender: How much everybody has said in a part of a stream.
select sender, count(*) as count from messages
where stream = :stream and seq >= :first and seq <= coalesce(cast(:last as bigint), 9223372036854775807)
group by sender

-- first_of_latest: Where the last so many messages begin.
select coalesce(min(seq), 0) from (
  select seq from messages where stream = :stream order by seq desc limit :count
) as last_ones

-- count: How many messages a stream has.
select count(*) from messages where stream = :stream

-- forget: Messages up to a number, for good.
delete from messages where stream = :stream and seq <= :seq

-- forget_mail: What lay in mailboxes up to a number, for good.
delete from mailbox where stream = :stream and seq <= :seq
