-- advance: Its holder goes on with it.
update tasks
set status = :status, lease_until = case when lease_until is null then lease_until else :lease_until end, updated_at = :now
where id = :id

-- propose: What its holder says came of it.
update tasks set outcome = :outcome, outcome_detail = :detail where id = :id

-- end: It is over, and nobody holds it.
update tasks
set status = :status, holder = null, hand = null, lease_until = null, outcome = :outcome, outcome_detail = :detail,
  error = :error, done_by = :by, ended_at = :now, updated_at = :now
where id = :id

-- unblock: Those that need it wait for one less; for each, whether it can be claimed now.
update tasks set blockers = blockers - 1
where id in (select task from task_edges where needs = :id and kind = 'blocks')
returning case when status = 'pending' and blockers = 0 then 1 else 0 end

-- retry: It waits for somebody as if it had not been tried; why it failed stays to be read.
update tasks set status = 'pending', ended_at = null, done_by = null, updated_at = :now where id = :id
