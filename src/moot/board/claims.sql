-- claim: Hold a task that is ready, or that its holder has lost; who holds it already holds it anew, by this hand.
update tasks
set status = case when holder = :agent then status else 'planning' end, holder = :agent, hand = :hand, fence = fence + 1,
  claimed_at = case when holder = :agent then claimed_at else :now end,
  lease_until = :lease_until, started_at = coalesce(started_at, :now), updated_at = :now
where id = :id and stream = :stream and (assigned is null or lower(assigned) = lower(:name))
  and (
    status = 'pending' and blockers = 0
    or holder = :agent
    or status in ('planning', 'in_progress') and lease_until <= :now
  )
  and exists (select 1 from boards where id = tasks.board and status in ('ready', 'in_progress'))
returning board, stream, name, fence, (select status from boards where id = tasks.board) as workflow_status

-- rebind: Who holds without a lease goes on through another hand.
update tasks set hand = :hand, fence = fence + 1 where holder = :agent and lease_until is null

-- renew: The time of a holder starts anew, if it is limited.
update tasks set lease_until = :lease_until where id = :id and lease_until is not null

-- renew_all: The same for everything that an agent holds through one hand, unless its time has run out.
update tasks set lease_until = :lease_until where holder = :agent and hand = :hand and lease_until > :now

-- release: Nobody holds it any more.
update tasks
set status = 'pending', holder = null, hand = null, lease_until = null, updated_at = :now
where id = :id
