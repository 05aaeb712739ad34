-- take: Become the owner of due jobs, leaving alone what another host is taking at this moment.
with attempts as materialized (
  select id from jobs where state = 'queued' and kind = 'attempt' and run_at <= :now
  order by run_at, id limit :attempts
  for update skip locked
), others as materialized (
  select id from jobs where state = 'queued' and kind <> 'attempt' and run_at <= :now
  order by run_at, id limit :others
  for update skip locked
)
update jobs set state = 'running', owner = :host, lease_until = :lease_until, fence = fence + 1
where id in (select id from attempts union all select id from others)
returning id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at

-- cancelled: Those of some jobs that nobody needs any more.
select id from jobs where id in (select json_array_elements_text(:ids)) and state = 'cancelled'

-- under_way: Whether a job is being done; nobody ends it until the commit.
select id from jobs where key = :key and state = 'running' for update
