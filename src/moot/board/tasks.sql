-- get: One task by id.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where id = :id

-- locked: One task, which nobody else changes until the commit.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where id = :id

-- named: One task by its folded name.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and folded = :folded

-- ready: What can be claimed, in the order of the plan.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and status = 'pending' and blockers = 0
order by rank limit :limit

-- lapsed: What somebody held whose time has run out.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and holder is not null and lease_until <= :now and status <> 'verifying'
order by lease_until limit :limit

-- next_lapse: When the first claim of a board runs out.
select min(lease_until) from tasks where board = :board and holder is not null and status <> 'verifying'

-- held: What somebody is at work on.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and holder is not null
  and (lease_until is null or lease_until > :now or status = 'verifying')
order by rank limit :limit

-- has_ready: Whether anything can be claimed.
select 1 from tasks where board = :board and status = 'pending' and blockers = 0 limit 1

-- has_held: Whether anybody is at work.
select 1 from tasks where board = :board and holder is not null limit 1

-- has_unfinished: Whether anything is neither completed nor skipped.
select 1 from tasks
where board = :board and status in ('pending', 'planning', 'in_progress', 'verifying', 'failed') limit 1

-- at_work: How many are at work within their time.
select count(*) from tasks
where board = :board and holder is not null and (lease_until is null or lease_until > :now or status = 'verifying')

-- held_by: What an agent holds.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where holder = :agent order by board, rank

-- page: The tasks of a board in the order of the plan.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and rank > :after and status in (select value from json_each(:statuses))
order by rank limit :limit

-- needs: What a task needs, what it waits for first.
select t.id, t.name, e.kind, t.status, t.outcome, t.error
from task_edges e join tasks t on t.id = e.needs
where e.task = :task
order by case when e.kind = 'blocks' and t.status not in ('completed', 'skipped') then 0 else 1 end, t.rank limit :limit

-- dependants: What needs a task.
select t.id, t.name, e.kind, t.status, t.outcome, t.error
from task_edges e join tasks t on t.id = e.task
where e.needs = :task order by t.rank limit :limit

-- finished: What came of tasks, the last ones first.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and status in ('completed', 'skipped') and (ended_at, id) < (:before, :id)
order by ended_at desc, id desc limit :limit

-- group: Those that may be done beside a task.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and parallel_group = :parallel_group and id <> :task order by rank limit :limit

-- counts: How many tasks are how.
select status, case when status = 'pending' and blockers > 0 then 1 else 0 end as is_blocked, complexity, parallel_group,
  count(*) as tasks
from tasks where board = :board
group by status, case when status = 'pending' and blockers > 0 then 1 else 0 end, complexity, parallel_group
