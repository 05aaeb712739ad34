-- take: Become the owner of due jobs, leaving alone what another host is taking at this moment.
with due as materialized (
  select id from jobs
  where state = 'queued' and run_at <= :now and (kind = 'attempt') = (:is_attempt = 1)
  order by run_at, id limit :limit
  for update skip locked
)
update jobs set state = 'running', owner = :host, lease_until = :lease_until, fence = fence + 1
where id in (select id from due)
returning id, key, kind, stream, subject, arguments, state, run_at, deadline, owner, fence, tries, losses, on_loss, error,
  created_at
