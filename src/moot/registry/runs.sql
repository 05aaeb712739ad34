-- add: A run that starts now.
insert into runs (
  id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, is_paused,
  first_seq, reason, started_at
) values (
  :id, :instance, :stream, :name, :source, :mode, 'live', 'setup', :definition, :given, '[]', :host, 0,
  :first_seq, '', :now
)

-- get: One run by id.
select id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, stop_asked,
  is_paused, first_seq, last_seq, reason, started_at, ended_at
from runs where id = :id

-- live: The run of an instance that is not over.
select id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, stop_asked,
  is_paused, first_seq, last_seq, reason, started_at, ended_at
from runs where instance = :instance and state = 'live'

-- live_id: Which run of an instance is not over.
select id from runs where instance = :instance and state = 'live'

-- latest: The run of an instance that started last.
select id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, stop_asked,
  is_paused, first_seq, last_seq, reason, started_at, ended_at
from runs where instance = :instance order by started_at desc, id desc limit 1

-- answered: The instances whose last run was a question, which is one of an agent file, and is done.
select instance from runs as one
where state = 'done' and source like '%.md' and not exists (
  select 1 from runs as later where later.instance = one.instance
    and (later.started_at > one.started_at or (later.started_at = one.started_at and later.id > one.id))
)

-- unfinished: The last run of each instance, where it is not done; those that started last come first.
select id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, stop_asked,
  is_paused, first_seq, last_seq, reason, started_at, ended_at
from runs as one
where state <> 'done' and not exists (
  select 1 from runs as later where later.instance = one.instance
    and (later.started_at > one.started_at or (later.started_at = one.started_at and later.id > one.id))
)
order by started_at desc, id desc

-- all_live: Every run that is not over.
select id, instance, stream, name, source, mode, state, phase, definition, given, outputs, attended_by, stop_asked,
  is_paused, first_seq, last_seq, reason, started_at, ended_at
from runs where state = 'live' order by instance

-- held_elsewhere: Where nobody works but another host, which plays or records what happens, or has what it needs.
select stream from runs where state = 'live' and mode in ('taped', 'bound') and attended_by <> :host

-- enter: Move on to the next phase, unless somebody else has.
update runs set phase = :phase where id = :id and state = 'live' and phase = :before

-- keep: Remember what setup has found out so far.
update runs set outputs = :outputs where id = :id and state = 'live'

-- attend: Somebody looks after the run and will end it.
update runs set attended_by = :host, state = 'live', stop_asked = null, is_paused = 0, ended_at = null, reason = '',
  last_seq = null
where id = :id

-- ask_stop: Have whoever attends the run end it.
update runs set stop_asked = :how where id = :id and state = 'live'

-- pause: Wake nobody, or go on.
update runs set is_paused = :is_paused where id = :id and state = 'live' and is_paused <> :is_paused

-- end: The run is over, or interrupted until somebody resumes it.
update runs set state = :state, reason = :reason, last_seq = :last_seq, attended_by = null, ended_at = :now
where id = :id and state = 'live'

-- supersede: A run that nobody will resume any more.
update runs set state = 'stopped', reason = :reason where instance = :instance and state = 'interrupted'

-- ids: Every run that an instance has had.
select id from runs where instance = :instance

-- held_up: Whether a run is over, paused, or asked to stop.
select 1 from runs where id = :id and (state <> 'live' or is_paused = 1 or stop_asked is not null)
