-- unread: What waits for an agent, oldest first.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, m.hops, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and (b.state = 'queued' or b.state = 'delivered')
order by b.seq limit :limit

-- count_unread: How much waits for an agent.
select count(*) from mailbox where agent = :agent and (state = 'queued' or state = 'delivered')

-- parked: What was given up, oldest first.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, m.hops, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and b.state = 'parked'
order by b.seq limit :limit

-- has_queued: Whether anything waits that nobody was given yet.
select 1 from mailbox where agent = :agent and state = 'queued' limit 1

-- has_queued_for_reader: Whether anything waits that nobody was given yet, for one that reads what its tools answer.
select 1 from mailbox b join agents a on a.id = b.agent
where b.agent = :agent and b.state = 'queued' and a.backend <> 'scripted' limit 1

-- deliver: Hand the oldest queued mail over.
update mailbox set state = 'delivered', attempt = :attempt, delivered_at = :now
where agent = :agent and state = 'queued' and seq <= coalesce((
  select max(seq) from (
    select seq from mailbox where agent = :agent and state = 'queued' order by seq limit :limit
  ) as oldest
), -1)

-- deliver_one: Hand one message over, unless that was done before.
update mailbox set state = 'delivered', attempt = :attempt, delivered_at = :now
where stream = :stream and seq = :seq and agent = :agent and state = 'queued'

-- delivered: What an attempt was given and has not acknowledged.
select m.stream, m.seq, m.id, m.sender, m.kind, m.body, m.mentions, m.priority, m.thread, m.reply_to, m.task_id,
  m.attempt, m.at, m.hops, b.state
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.agent = :agent and b.state = 'delivered' and b.attempt = :attempt
order by b.seq

-- rejoin: Give parked mail its one more chance.
update mailbox set state = 'delivered', attempt = :attempt, rejoined = 1, delivered_at = :now
where agent = :agent and state = 'parked' and rejoined = 0

-- ack_attempt: Done with all that this attempt was given.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state = 'delivered' and attempt = :attempt

-- park_rejoined: Mail that was given one more chance goes back where it was, with or without having used it.
update mailbox set state = 'parked', attempt = null, rejoined = :is_failure
where agent = :agent and state = 'delivered' and attempt = :attempt and rejoined = 1

-- take_back: Mail of a failed attempt waits again.
update mailbox set state = 'queued', attempt = null
where agent = :agent and state = 'delivered' and attempt = :attempt

-- take_back_one: What an attempt was given and has not been shown waits again.
update mailbox set state = 'queued', attempt = null
where agent = :agent and stream = :stream and seq = :seq and state = 'delivered' and attempt = :attempt

-- park: Mail of an agent that failed for the last time.
update mailbox set state = 'parked', attempt = null
where agent = :agent and state = 'delivered' and attempt = :attempt

-- park_until: The same, of what was said up to a moment.
update mailbox set state = 'parked', attempt = null
where agent = :agent and state = 'delivered' and attempt = :attempt and exists (
  select 1 from messages m where m.stream = mailbox.stream and m.seq = mailbox.seq and m.at <= :moment
)

-- park_queued: Mail that nobody was given in time.
update mailbox set state = 'parked' where agent = :agent and state = 'queued'

-- park_message: One message, with all who have not been given it.
update mailbox set state = 'parked' where stream = :stream and seq = :seq and state = 'queued' and agent in (
  select id from agents where backend <> 'human'
)

-- revive: Parked mail counts as new.
update mailbox set state = 'queued', rejoined = 0 where agent = :agent and state = 'parked'

-- revive_message: One message counts as new for all to whom it was given in vain.
update mailbox set state = 'queued', rejoined = 0 where stream = :stream and seq = :seq and state = 'parked'
returning agent

-- drop_message: One message, for all to whom it was given in vain.
update mailbox set state = 'dead' where stream = :stream and seq = :seq and state = 'parked'
returning agent

-- inherit: Unread mail goes to whoever has taken the addressee's place, unless that one has it anyway.
update mailbox set agent = :heir, state = 'queued', attempt = null
where agent = :agent and (state = 'queued' or state = 'delivered') and not exists (
  select 1 from mailbox as own where own.stream = mailbox.stream and own.seq = mailbox.seq and own.agent = :heir
)

-- bury: Mail that waits for somebody who is gone.
update mailbox set state = 'dead' where agent = :agent and (state = 'queued' or state = 'delivered')

-- bury_until: Mail up to a number, that nobody will read.
update mailbox set state = 'dead'
where agent = :agent and seq <= :seq and (state = 'queued' or state = 'delivered')

-- bury_parked_until: Parked mail up to a number.
update mailbox set state = 'dead' where agent = :agent and seq <= :seq and state = 'parked'

-- bury_parked: Parked mail of somebody who is gone.
update mailbox set state = 'dead' where agent = :agent and state = 'parked'

-- bury_message: One message, with all who have not read it.
update mailbox set state = 'dead'
where stream = :stream and seq = :seq and state <> 'acked' and state <> 'dead'

-- place_of_id: Where a message lies in an agent's mailbox, by its id.
select b.seq, b.state from messages m
join mailbox b on b.stream = m.stream and b.seq = m.seq and b.agent = :agent
where m.id = :id

-- place_of_seq: Where a message lies in an agent's mailbox, by its number.
select b.seq, b.state from agents a
join mailbox b on b.stream = a.stream and b.seq = :seq and b.agent = a.id
where a.id = :agent

-- ack_one: Done with the message that was named.
update mailbox set state = 'acked', acked_at = :now
where stream = (select stream from agents where id = :agent) and seq = :seq and agent = :agent
  and state in ('queued', 'delivered', 'parked')

-- ack_delivered: Done with everything handed out up to a number.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state = 'delivered' and seq <= :seq

-- ack_until: Done with everything handed out that was said up to a moment.
update mailbox set state = 'acked', acked_at = :now
where agent = :agent and state = 'delivered' and exists (
  select 1 from messages m where m.stream = mailbox.stream and m.seq = mailbox.seq and m.at <= :moment
)

-- last_acked: The newest message of a stream that an agent is done with, and its time.
select m.at from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.stream = :stream and b.agent = :agent and b.state = 'acked' order by b.seq desc limit 1

-- receipts: How far a message has come with each recipient.
select agent, state, delivered_at, acked_at from mailbox where stream = :stream and seq = :seq order by agent

-- boxes: What lies in all mailboxes, in a part of a stream.
select b.seq, a.name, b.state from mailbox b join agents a on a.id = b.agent
where b.stream = :stream and b.seq > :after and b.seq <= :until order by b.seq, b.agent

-- counts: Unread and parked mail of everyone in a stream who has any.
select agent, sum(is_unread) as unread, sum(is_parked) as parked
from (
  select b.agent, 1 as is_unread, 0 as is_parked from agents a join mailbox b on b.agent = a.id
  where a.stream = :stream and a.left_at is null and (b.state = 'queued' or b.state = 'delivered')
  union all
  select b.agent, 0, 1 from agents a join mailbox b on b.agent = a.id
  where a.stream = :stream and a.left_at is null and b.state = 'parked'
) as mail
group by agent
