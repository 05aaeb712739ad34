-- heads: How far every stream has come.
select id, seq from streams order by id

-- heads_between: How far some streams have come, from one on and before another.
select id, seq from streams where id >= :first and id < :end order by id limit :limit

-- head: How far one stream has come.
select id, seq from streams where id = :stream

-- events_after: A stream's events behind a number, in order.
select stream, seq, kind, subject, data, actor, at
from events
where stream = :stream and seq > :seq
order by seq
limit :limit

-- with_news: Streams with events that no reaction has seen.
select id, instance from streams where seq > reacted order by id limit :limit

-- news: A stream's events that no reaction has seen, in order.
select stream, seq, kind, subject, data, actor, at
from events
where stream = :stream and seq > (select reacted from streams where id = :stream)
order by seq
limit :limit

-- has_news: Whether one stream has events that no reaction has seen.
select 1 from streams where id = :stream and seq > reacted
