-- last: The number and time that an event of the stream got last.
select seq, at, reacted from streams where id = :stream

-- keep: What was counted since.
update streams set seq = :seq, at = :at, reacted = :reacted where id = :stream

-- add_event: Append one event under its number.
insert into events (stream, seq, kind, subject, data, actor, at)
values (:stream, :seq, :kind, :subject, :data, :actor, :at)
