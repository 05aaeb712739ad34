-- add: An attempt that starts now.
insert into attempts (id, agent, run, job, fence, number, host, state, started_at)
values (:id, :agent, :run, :job, :fence, :number, :host, 'running', :now)

-- led_by: What it was given came about through so many messages.
update attempts set hops = :hops where id = :id and hops < :hops

-- hops: How many messages led to what it was given.
select hops from attempts where id = :id

-- end: Close an attempt once.
update attempts set state = :state, error = :error, ended_at = :now where id = :id and state = 'running'

-- end_tokens: An attempt's token dies with it.
update tokens set revoked_at = :now where attempt = :attempt and revoked_at is null

-- is_running: Whether the attempt still holds its fence.
select 1 from attempts where id = :id and fence = :fence and state = 'running'

-- asked: What is wanted of an attempt that still holds its fence; an empty word if nothing is.
select case
  when runs.state <> 'live' then 'shutdown'
  when agents.stopped_at is not null or runs.stop_asked is not null then 'stop'
  else ''
end
from attempts join agents on agents.id = attempts.agent left join runs on runs.id = attempts.run
where attempts.id = :id and attempts.fence = :fence and attempts.state = 'running'

-- of_job: The attempts at one delivery.
select id, agent, job, fence, number, host, state, error, started_at, ended_at
from attempts where job = :job order by fence

-- first_try: When the first of the attempts at one delivery began that has not been turned away.
select max(started_at) from attempts where job = :job and number = 1

-- get: One attempt by id.
select id, agent, job, fence, number, host, state, error, started_at, ended_at from attempts where id = :id

-- running: The attempt an agent is in.
select id, agent, job, fence, number, host, state, error, started_at, ended_at
from attempts where agent = :agent and state = 'running' order by started_at desc limit 1

-- latest: The last attempts of an agent, newest first.
select id, agent, job, fence, number, host, state, error, started_at, ended_at
from attempts where agent = :agent order by id desc limit :limit
