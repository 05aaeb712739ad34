-- locked: One task, which nobody else changes until the commit.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where id = :id for update

-- page: The tasks of a board in the order of the plan.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks where board = :board and rank > :after and status in (select json_array_elements_text(:statuses))
order by rank limit :limit
