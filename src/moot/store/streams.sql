-- create: Start a stream at zero, unless it is there.
insert into streams (id, instance, seq, reacted, at) values (:stream, :instance, 0, 0, 0)
on conflict (id) do nothing

-- take_number: Move the counter and the time on; the row stays locked until the commit: no gaps, no two times alike.
update streams
set seq = seq + 1, at = case when at >= :now then at + 1 else :now end,
  reacted = case when :is_quiet = 1 and reacted = seq then seq + 1 else reacted end
where id = :stream

-- number: What was taken last.
select seq, at from streams where id = :stream

-- add_event: Append one event under its number.
insert into events (stream, seq, kind, subject, data, actor, at)
values (:stream, :seq, :kind, :subject, :data, :actor, :at)

-- reacted: Move the mark up to which reactions have seen the stream; never back.
update streams set reacted = :seq where id = :stream and reacted < :seq

-- forget_events: Events up to a number, for good.
delete from events where stream = :stream and seq <= :seq

-- forget: The stream itself.
delete from streams where id = :stream
