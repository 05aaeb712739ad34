-- add: Write a message under its event's number.
insert into messages (
  stream, seq, id, sender, sender_id, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
) values (
  :stream, :seq, :id, :sender, :sender_id, :kind, :body, :mentions, :priority, :thread, :reply_to, :task_id, :attempt,
  :at
)

-- add_mail: Put it into one recipient's mailbox.
insert into mailbox (stream, seq, agent, state, priority, acked_at)
values (:stream, :seq, :agent, :state, :priority, :acked_at)

-- get: One message by id.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at from messages where id = :id

-- latest: The last messages of a stream, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
from messages where stream = :stream order by seq desc limit :limit

-- latest_after: The last messages behind a number, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
from messages where stream = :stream and seq > :seq order by seq desc limit :limit

-- latest_after_time: The last messages younger than a moment, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
from messages where stream = :stream and at > :moment order by seq desc limit :limit

-- after: Messages behind a number.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
from messages where stream = :stream and seq > :seq order by seq limit :limit

-- of_thread: The root of a thread and its answers.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at
from messages where id = :thread or (thread = :thread and reply_to is not null) order by seq limit :limit

-- count_by_attempt: How often an attempt has spoken.
select count(*) from messages where attempt = :attempt

-- count: How many messages a stream has.
select count(*) from messages where stream = :stream
