-- add: Queue a job; if one with the same key is being done, note when another is to follow. One that waits will do.
insert into jobs (
  id, key, kind, stream, subject, arguments, state, run_at, deadline, fence, tries, losses, again, on_loss, created_at
) values (
  :id, :key, :kind, :stream, :subject, :arguments, 'queued', :run_at, :deadline, 0, 0, 0, 0, :on_loss, :now
)
on conflict (key) where state in ('queued', 'running', 'unknown')
do update set again = case
  when jobs.state = 'queued' then jobs.again
  when jobs.again = 0 or excluded.run_at < jobs.again then excluded.run_at
  else jobs.again
end

-- take: Become the owner of due jobs.
update jobs set state = 'running', owner = :host, lease_until = :lease_until, fence = fence + 1
where id in (
  select id from (
    select id from jobs where state = 'queued' and kind = 'attempt' and run_at <= :now
    order by run_at, id limit :attempts
  ) as attempts
  union all
  select id from (
    select id from jobs where state = 'queued' and kind <> 'attempt' and run_at <= :now
    order by run_at, id limit :others
  ) as others
)
returning id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at

-- next_at: When the earliest waiting job of these kinds is due.
select min(run_at) from (
  select min(run_at) as run_at from jobs where :attempts = 1 and state = 'queued' and kind = 'attempt'
  union all
  select min(run_at) as run_at from jobs where :others = 1 and state = 'queued' and kind <> 'attempt'
) as earliest

-- next_loss: When the first lease runs out, unless it is renewed.
select min(lease_until) from jobs where state = 'running'

-- renew: Keep a job that its host is at work on.
update jobs set lease_until = :lease_until where id = :id and state = 'running' and owner = :host

-- resolve: Somebody has looked, and says what is to become of a job of unknown outcome.
update jobs
set state = :state, run_at = :now, owner = null, ended_at = :ended_at
where id = :id and state = 'unknown'

-- close: The end of a job, by its owner only.
update jobs set state = :state, error = :error, ended_at = :now, lease_until = null
where id = :id and fence = :fence and state = 'running'
returning nullif(again, 0) as again

-- retry: A failed job waits for its next try, which will do for whoever asked for it meanwhile.
update jobs
set state = 'queued', run_at = :run_at, error = :error, tries = tries + 1, owner = null, lease_until = null,
  again = case when again > :run_at then again else 0 end
where id = :id and fence = :fence and state = 'running'

-- put_back: A job that its owner could not finish waits again, as if it had not been taken.
update jobs
set state = 'queued', owner = null, lease_until = null, again = case when again > :now then again else 0 end
where id = :id and fence = :fence and state = 'running'

-- postpone: A job that cannot be done before a time waits until then.
update jobs
set state = 'queued', run_at = :run_at, owner = null, lease_until = null,
  again = case when again > :run_at then again else 0 end
where id = :id and fence = :fence and state = 'running'

-- hurry: A job that waits for its time is due now.
update jobs set run_at = :now where key = :key and state = 'queued' and run_at > :now

-- cancel: Nobody needs this any more, whether it waits or is being done.
update jobs set state = 'cancelled', ended_at = :now, lease_until = null
where key = :key and state in ('queued', 'running', 'unknown')

-- cancelled: Those of some jobs that nobody needs any more.
select id from jobs where id in (select value from json_each(:ids)) and state = 'cancelled'

-- under_way: Whether a job is being done; nobody ends it until the commit.
select id from jobs where key = :key and state = 'running'

-- owned: Whether a job is still its owner's at this moment.
select id from jobs where id = :id and fence = :fence and state = 'running'

-- guard: Whether a job is still its owner's; nobody takes it away until the commit.
update jobs set fence = fence where id = :id and fence = :fence and state = 'running'

-- abandon: The leases of a host that is gone end now.
update jobs set lease_until = :now where state = 'running' and owner = :host

-- lose: Jobs whose lease has run out wait again, or are of unknown outcome.
update jobs
set state = case when on_loss = 'repeat' then 'queued' else 'unknown' end, losses = losses + 1, lease_until = null,
  again = case when on_loss = 'repeat' and again <= :now then 0 else again end
where state = 'running' and lease_until <= :now
returning id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at

-- live: Everything of a stream that is not over.
select id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at
from jobs where stream = :stream and state in ('queued', 'running', 'unknown') order by created_at, id

-- get: One job by id.
select id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at from jobs where id = :id

-- forget: All jobs of a stream, for good.
delete from jobs where stream = :stream
