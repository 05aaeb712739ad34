-- stop: Nobody wakes this agent from now on. Who comes from outside is not woken, and stops with its client.
update agents set stopped_at = :now
where id = :id and stopped_at is null and left_at is null and backend <> 'external'

-- release: It may be woken again.
update agents set stopped_at = null
where id = :id and stopped_at is not null and left_at is null and backend <> 'external'

-- is_asked: Whether an agent, or the run that it works for, is to come to an end.
select 1 from agents where id = :agent and stopped_at is not null
union all
select 1 from runs where id = :run and stop_asked is not null
limit 1
