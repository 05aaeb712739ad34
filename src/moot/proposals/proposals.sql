-- next_number: Count one further. Whoever proposes at the same moment waits for it.
insert into meta (key, value) values (:counter, 1)
on conflict (key) do update set value = meta.value + 1
returning value

-- add: A proposal that is open from now.
insert into proposals (
  id, stream, instance, type, purpose, title, description, options, creator, creator_id, rule, quorum,
  is_quorum_required, tie_breaker, is_binding, created_at, expires_at, status, assignments, reason
) values (
  :id, :stream, :instance, :type, :purpose, :title, :description, :options, :creator, :creator_id, :rule, :quorum,
  :is_quorum_required, :tie_breaker, :is_binding, :now, :expires_at, 'active', '{}', ''
)

-- add_elector: Somebody who may vote on it.
insert into electors (proposal, place, agent, name, reason) values (:id, :place, :agent, :name, '')

-- asked: The message by which the electors were asked.
update proposals set message = :message where id = :id

-- get: One proposal: its terms and what came of it.
select id, stream, instance, type, purpose, title, description, options, creator, creator_id, rule, quorum,
  is_quorum_required, tie_breaker, is_binding, created_at, expires_at, message, status, winner, seed, assignments,
  resolved_by, reason, closed_at
from proposals where id = :id

-- ballots: Who may vote on a proposal, and how they did.
select proposal, agent, name, choice, reason, number, voted_at from electors where proposal = :id order by place

-- all_ballots: The same for every proposal of a stream.
select e.proposal, e.agent, e.name, e.choice, e.reason, e.number, e.voted_at
from proposals p join electors e on e.proposal = p.id
where p.stream = :stream order by e.proposal, e.place

-- open_of: What can be voted on in a stream, oldest first.
select id, stream, instance, type, purpose, title, description, options, creator, creator_id, rule, quorum,
  is_quorum_required, tie_breaker, is_binding, created_at, expires_at, message
from proposals where stream = :stream and status = 'active' order by created_at, id

-- has_open: Whether anything can be voted on in a stream.
select 1 from proposals where stream = :stream and status = 'active' limit 1

-- all_of: Everything that was proposed in a stream, oldest first, with what came of it.
select id, stream, instance, type, purpose, title, description, options, creator, creator_id, rule, quorum,
  is_quorum_required, tie_breaker, is_binding, created_at, expires_at, message, status, winner, seed, assignments,
  resolved_by, reason, closed_at
from proposals where stream = :stream order by created_at, id

-- latest: The last proposals of a stream, or the last before one of them, newest first.
select id from proposals
where stream = :stream
  and (:before = '' or (created_at, id) < (select created_at, id from proposals where id = :before))
order by created_at desc, id desc limit :limit

-- latest_for: The last proposal of a stream that served a purpose.
select id, stream, instance, type, purpose, title, description, options, creator, creator_id, rule, quorum,
  is_quorum_required, tie_breaker, is_binding, created_at, expires_at, message
from proposals where stream = :stream and purpose = :purpose order by created_at desc, id desc limit 1

-- forget_electors: Who might vote in a stream.
delete from electors where proposal in (select id from proposals where stream = :stream)

-- forget: What was proposed in a stream.
delete from proposals where stream = :stream
