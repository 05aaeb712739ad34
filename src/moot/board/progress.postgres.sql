-- unblock: Those that need it wait for one less; held in one order, because others may count them down, too.
update tasks set blockers = blockers - 1
where id in (
  select id from tasks where id in (select task from task_edges where needs = :id and kind = 'blocks')
  order by id for update
)
returning case when status = 'pending' and blockers = 0 then 1 else 0 end
