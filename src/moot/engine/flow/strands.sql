-- put: A strand as it is now.
insert into strands (
  flow, number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error
) values (
  :flow, :number, :parent, :fork, :task_id, :frames, :tries, :status, :holder, :own, :step_id, :work, :since, :given_at, :is_applied,
  :waits_on, :wakes_at, :seen_step, :retries, :error
) on conflict (flow, number) do update set
  holder = case when excluded.status = 'ready' then null else strands.holder end, frames = excluded.frames, tries = excluded.tries, status = excluded.status,
  own = excluded.own, step_id = excluded.step_id, work = excluded.work, since = excluded.since,
  given_at = excluded.given_at, is_applied = excluded.is_applied, waits_on = excluded.waits_on, wakes_at = excluded.wakes_at,
  seen_step = excluded.seen_step, retries = excluded.retries, error = excluded.error

-- place: Where the first strand is.
update flows set frames = :frames, tries = :tries where id = :flow

-- move: Another strand is elsewhere, and nothing else has changed.
update strands set frames = :frames, tries = :tries where flow = :flow and number = :number

-- of_flow: Those that are not over, the first, and of the tasks that one waits for also those that are done.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands s
where flow = :flow and (
  number = 0 or status not in ('done', 'failed') or exists (
    select 1 from strands p
    where p.flow = s.flow and p.number = s.parent and p.since = s.fork and p.status in ('forked', 'pending')
  )
)
order by number

-- held: Whose those are that are somebody's, of the same.
select number, holder
from strands s
where flow = :flow and holder is not null and (
  number = 0 or status not in ('done', 'failed') or exists (
    select 1 from strands p
    where p.flow = s.flow and p.number = s.parent and p.since = s.fork and p.status in ('forked', 'pending')
  )
)
order by number

-- pending: Those whose work an agent has in hand.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands where flow = :flow and status = 'pending' order by number

-- all_of: Every one of a flow.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands where flow = :flow order by number

-- get: One by its number.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands where flow = :flow and number = :number

-- by_task: The newest that has this task.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands where flow = :flow and task_id = :task_id order by number desc limit 1

-- waiting_on: Those that wait for the end of something.
select number, parent, fork, task_id, frames, tries, status, holder, own, step_id, work, since, given_at, is_applied, waits_on, wakes_at,
  seen_step, retries, error, flow
from placed_strands where waits_on = :subject order by flow, number

-- newest: The highest number that was given.
select coalesce(max(number), 0) from strands where flow = :flow

-- bind: Whoever comes first has it.
update strands set holder = :holder where flow = :flow and number = :number and (holder is null or holder = :holder)

-- rebind: Another holds the first, and all that nobody is at work on.
update strands set holder = case when number = 0 then :holder else null end
where flow = :flow and status not in ('done', 'failed')

-- drop: All but the first.
delete from strands where flow = :flow and number > 0
