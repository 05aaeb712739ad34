-- older: The last messages before a number, of some kinds and perhaps of one sender, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream and seq < :seq and kind in (select value from json_each(:kinds)) and :sender in ('', sender)
order by seq desc limit :limit

-- newer: The first messages behind a number, of some kinds and perhaps of one sender, oldest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream and seq > :seq and kind in (select value from json_each(:kinds)) and :sender in ('', sender)
order by seq limit :limit

-- next_time: Number and time of the first message from a number on.
select seq, at from messages where stream = :stream and seq >= :seq order by seq limit 1

-- last_number: The number of the last message.
select max(seq) from messages where stream = :stream

-- last_words: What everybody has said last, of what was said behind a number.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream
  and seq in (select max(m.seq) from messages m where m.stream = :stream and m.seq > :seq group by m.sender)
