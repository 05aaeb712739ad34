-- create: Start a stream at zero, unless it is there.
insert into streams (id, instance, seq, reacted, at) values (:stream, :instance, 0, 0, 0)
on conflict (id) do nothing

-- reacted: Move the mark up to which reactions have seen the stream; never back.
update streams set reacted = :seq where id = :stream and reacted < :seq

-- forget_events: Events up to a number, for good.
delete from events where stream = :stream and seq <= :seq

-- forget: The stream itself.
delete from streams where id = :stream
