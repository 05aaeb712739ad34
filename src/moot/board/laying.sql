-- there: The tasks of a board, none of which anybody else changes until the commit.
select id, name, folded, status from tasks where board = :board

-- some_there: Those of some names.
select id, name, folded, status from tasks
where board = :board and folded in (select value from json_each(:names))

-- some: A few tasks of a board.
select id, name, folded, status from tasks where board = :board limit :limit

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

-- add_edge: One task needs another.
insert into task_edges (task, needs, kind) values (:task, :needs, :kind)

-- rerank: Another place in the plan.
update tasks set rank = :rank where id = :id and rank <> :rank

-- count_blockers: Of every task that nobody has begun, how much of what it needs is still to be done.
update tasks set blockers = (
  select count(*) from task_edges e join tasks t on t.id = e.needs
  where e.task = tasks.id and e.kind = 'blocks' and t.status not in ('completed', 'skipped')
)
where board = :board and status = 'pending'

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
