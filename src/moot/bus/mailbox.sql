-- unread: What waits for an agent, oldest first.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and b.state in ('queued', 'delivered')
order by b.seq limit :limit

-- parked: What was given up, oldest first.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and b.state = 'parked'
order by b.seq limit :limit

-- has_queued: Whether anything waits that nobody was given yet.
select 1 from mailbox where agent = :agent and state in ('queued', 'delivered') and state = 'queued' limit 1

-- deliver: Hand the oldest queued mail over.
update mailbox set state = 'delivered', attempt = :attempt, delivered_at = :now
where agent = :agent and state = 'queued' and state in ('queued', 'delivered') and seq <= coalesce((
  select max(seq) from (
    select seq from mailbox
    where agent = :agent and state = 'queued' and state in ('queued', 'delivered')
    order by seq limit :limit
  ) as oldest
), -1)

-- delivered: What an attempt, or an agent from outside, was given and has not acknowledged.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and b.state in ('queued', 'delivered') and b.state = 'delivered'
  and coalesce(b.attempt, '') = :attempt
order by b.seq

-- rejoin: Give parked mail its one more chance.
update mailbox set state = 'delivered', attempt = :attempt, rejoined = 1, delivered_at = :now
where agent = :agent and state = 'parked' and rejoined = 0

-- ack_attempt: Done with all that this attempt was given.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and attempt = :attempt

-- park_rejoined: Mail that had its one more chance goes back where it was.
update mailbox set state = 'parked', attempt = null
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and attempt = :attempt and rejoined = 1

-- take_back: Mail of a failed attempt waits again.
update mailbox set state = 'queued', attempt = null
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and attempt = :attempt

-- park: Mail of an agent that failed for the last time.
update mailbox set state = 'parked', attempt = null
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and attempt = :attempt

-- revive: Parked mail counts as new.
update mailbox set state = 'queued', rejoined = 0 where agent = :agent and state = 'parked'

-- bury: Mail to somebody who is gone.
update mailbox set state = 'dead' where agent = :agent and state in ('queued', 'delivered', 'parked')

-- seq_of: The number of a message in an agent's mailbox, by id or number.
select b.seq from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and (m.id = :id or b.seq = :seq) and b.state <> 'dead' limit 1

-- ack_one: Done with the message that was named.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and seq = :seq and state in ('queued', 'delivered', 'parked')

-- ack_delivered: Done with everything handed out up to a number.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and seq <= :seq

-- ack_until: Done with everything handed out that was said up to a moment.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state in ('queued', 'delivered') and state = 'delivered' and exists (
  select 1 from messages m where m.stream = mailbox.stream and m.seq = mailbox.seq and m.at <= :moment
)

-- receipts: How far a message has come with each recipient.
select agent, state, delivered_at, acked_at from mailbox where stream = :stream and seq = :seq order by agent

-- counts: Unread and parked mail per agent of a stream.
select b.agent, sum(case when b.state = 'parked' then 0 else 1 end) as unread,
  sum(case when b.state = 'parked' then 1 else 0 end) as parked
from agents a join mailbox b on b.agent = a.id and b.state in ('queued', 'delivered', 'parked')
where a.stream = :stream group by b.agent
