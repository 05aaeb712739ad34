-- hold_there: All tasks of a board, for who is about to hold that: whoever writes is alone here.
select id from tasks where board = :board limit 0

-- hold_some: The same for those of some names.
select id from tasks where board = :board and :names = '' limit 0

-- there: The tasks of a board, none of which anybody else changes until the commit.
select id, name, folded, status, description, rank, parallel_group, complexity, assigned, capabilities, files, checks
from tasks where board = :board

-- some_there: Those of some names.
select id, name, folded, status, description, rank, parallel_group, complexity, assigned, capabilities, files, checks
from tasks where board = :board and folded in (select value from json_each(:names))

-- some: A few tasks of a board.
select id, name, folded, status, description, rank, parallel_group, complexity, assigned, capabilities, files, checks
from tasks where board = :board limit :limit

-- next_rank: Where the plan of a board ends.
select coalesce(max(rank) + 1, 0) from tasks where board = :board

-- add: A task that nobody has begun.
insert into tasks (
  id, board, stream, name, folded, description, rank, parallel_group, complexity, assigned, capabilities, files, checks,
  status, blockers, fence, plan, context, outcome_detail, created_at, updated_at
) values (
  :id, :board, :stream, :name, :folded, :description, :rank, :parallel_group, :complexity, :assigned, :capabilities,
  :files, :checks, 'pending', :blockers, 0, '{}', '{}', '{}', :now, :now
)

-- plan_anew: A task that nobody has begun, or that has failed, as it is planned now.
update tasks
set name = :name, folded = :folded, description = :description, rank = :rank, parallel_group = :parallel_group,
  complexity = :complexity, assigned = :assigned, capabilities = :capabilities, files = :files, checks = :checks,
  status = 'pending', blockers = :blockers, done_by = null, ended_at = null, updated_at = :now
where id = :id

-- edges: What the tasks of a board need.
select e.task, e.needs, e.kind from task_edges e join tasks t on t.id = e.task where t.board = :board

-- remove_edge: It does not need that any more.
delete from task_edges where task = :task and needs = :needs

-- add_edge: One task needs another.
insert into task_edges (task, needs, kind) values (:task, :needs, :kind)

-- rerank: Another place in the plan.
update tasks set rank = :rank where id = :id and rank <> :rank

-- count_blockers: Of every task that nobody has begun, how much of what it needs is still to be done.
update tasks set blockers = (
  select count(*) from task_edges e join tasks t on t.id = e.needs
  where e.task = tasks.id and e.kind = 'blocks' and t.status not in ('completed', 'skipped')
)
where board = :board and status = 'pending' and blockers <> (
  select count(*) from task_edges e join tasks t on t.id = e.needs
  where e.task = tasks.id and e.kind = 'blocks' and t.status not in ('completed', 'skipped')
)

-- count_blockers_of: The same for one task.
update tasks set blockers = (
  select count(*) from task_edges e join tasks t on t.id = e.needs
  where e.task = tasks.id and e.kind = 'blocks' and t.status not in ('completed', 'skipped')
)
where id = :id

-- remove: A task that is not to be done.
delete from tasks where id = :id

-- remove_edges: What it needed.
delete from task_edges where task = :id

-- remove_edges_back: What needed it.
delete from task_edges where needs = :id

-- remove_checks: What was looked at.
delete from checks where task = :id

-- remove_checkpoints: What was noted of it.
delete from checkpoints where task = :id
