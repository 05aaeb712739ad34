-- pending: Tasks that nobody holds and that wait for others, or do not, in the order of the plan.
select id, board, stream, name, description, rank, parallel_group, complexity, assigned, capabilities, files, checks, status,
  blockers, holder, hand, fence, lease_until, plan, context, outcome, outcome_detail, error, done_by, created_at,
  started_at, ended_at, updated_at
from tasks
where board = :board and rank > :after and status = 'pending' and case when blockers > 0 then 1 else 0 end = :is_blocked
order by rank limit :limit

-- first_unfinished: Where a plan begins that is not over.
select rank from tasks where board = :board and status not in ('completed', 'skipped') order by rank limit 1

-- spans: When tasks of an instance were worked on, and by whom.
select t.id, t.name, coalesce(t.holder, t.done_by) as agent, t.started_at, t.ended_at
from tasks t join boards b on b.id = t.board
where b.instance = :instance and t.started_at is not null and coalesce(t.holder, t.done_by) is not null
