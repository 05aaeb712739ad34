-- older: The last messages before a number, of some kinds and perhaps of one sender, newest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream and seq < :seq and kind in (select json_array_elements_text(:kinds)) and :sender in ('', sender)
order by seq desc limit :limit

-- newer: The first messages behind a number, of some kinds and perhaps of one sender, oldest first.
select stream, seq, id, sender, kind, body, mentions, priority, thread, reply_to, task_id, attempt, at, hops
from messages
where stream = :stream and seq > :seq and kind in (select json_array_elements_text(:kinds)) and :sender in ('', sender)
order by seq limit :limit
