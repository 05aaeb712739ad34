-- stop: Nobody wakes this agent from now on. Who comes from outside is not woken, and stops with its client.
update agents set stopped_at = :now
where id = :id and stopped_at is null and left_at is null and backend <> 'external'

-- release: It may be woken again.
update agents set stopped_at = null
where id = :id and stopped_at is not null and left_at is null and backend <> 'external'

-- asked: Whether an agent, or the run that it works for, is to come to an end. A run that is over stops its agents, too.
select case when runs.state <> 'live' then 'shutdown' else 'stop' end
from agents left join runs on runs.id = :run
where agents.id = :agent and (agents.stopped_at is not null or runs.stop_asked is not null or runs.state <> 'live')
