-- add_event: Append one event under its number.
insert into events (stream, seq, kind, subject, data, actor, at)
values (:stream, :seq, :kind, :subject, :data, :actor, :at)
