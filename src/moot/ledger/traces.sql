-- roots: The trees that an attempt may have worked on: those begun in its time, and the last one before.
select root from trees where owner = :owner and started_at >= :started_at and started_at <= :ended_at
union
select root from (
  select root from trees where owner = :owner and started_at < :started_at
  order by started_at desc, generation desc limit 1
) as before
order by root

-- steps: What is on record of a tree, without what was said.
select root, path, try as number, kind, name, agent, trigger, state, attempt, stop, error,
  case when kind = 'tool' and result like '%"is_error":true}' then substr(result, 1, 400) end as refusal,
  reserve, cost, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, is_estimated,
  started_at, ended_at,
  case when kind = 'model' and result like '%"calls":[[%' then result end as answer
from journal where root = :root order by started_at, path, try

-- tool_calls: What an attempt has done by tools, as its operations tell.
select id, kind, name, state, case when state = 'failed' then substr(result, 1, 400) end as error, started_at, ended_at
from operations where attempt = :attempt order by started_at, id

-- attempt_of_deed: In which attempt something was done.
select attempt from operations where id = :id and attempt is not null

-- of_attempt: One attempt, and whose it is.
select t.id, t.agent, a.name, a.instance, a.stream, a.backend, a.settings, t.job, t.run, t.number, t.state, t.error,
  t.started_at, t.ended_at
from attempts t join agents a on a.id = t.agent where t.id = :id

-- of_job: The attempts at one delivery.
select t.id, t.agent, a.name, a.instance, a.stream, a.backend, a.settings, t.job, t.run, t.number, t.state, t.error,
  t.started_at, t.ended_at
from attempts t join agents a on a.id = t.agent where t.job = :job order by t.started_at, t.id

-- of_run: The attempts of a run.
select t.id, t.agent, a.name, a.instance, a.stream, a.backend, a.settings, t.job, t.run, t.number, t.state, t.error,
  t.started_at, t.ended_at
from attempts t join agents a on a.id = t.agent where t.run = :run order by t.started_at, t.id

-- last_of_agent: What an agent has done last.
select id from attempts where agent = :agent order by started_at desc, id desc limit 1

-- last: What anybody has done last, in one instance or in all.
select t.id from attempts t join agents a on a.id = t.agent
where :instance = '' or a.instance = :instance
order by t.started_at desc, t.id desc limit 1

-- after: Attempts behind one, in the order of their ids.
select id from attempts where id > :id order by id limit :limit

-- given: What attempts were given, in a part of a stream; by one attempt or by all.
select b.attempt, m.id, m.seq, m.sender, m.kind, substr(m.body, 1, 300) as body, m.hops, m.attempt as said_in, m.at
from mailbox b join messages m on m.stream = b.stream and m.seq = b.seq
where b.stream = :stream and b.seq >= :first and b.seq <= :last and b.attempt is not null
  and (:attempt = '' or b.attempt = :attempt)
order by b.seq

-- said: What attempts have said, in a part of a stream; one attempt or all.
select m.attempt, m.id, m.seq, m.sender, m.kind, substr(m.body, 1, 300) as body, m.hops, m.attempt as said_in, m.at
from messages m
where m.stream = :stream and m.seq >= :first and m.seq <= :last and m.attempt is not null
  and (:attempt = '' or m.attempt = :attempt)
order by m.seq

-- word: One message.
select '' as attempt, m.id, m.seq, m.sender, m.kind, substr(m.body, 1, 300) as body, m.hops, m.attempt as said_in, m.at
from messages m where m.id = :id

-- readers: The attempts that were given a message.
select b.attempt from messages m join mailbox b on b.stream = m.stream and b.seq = m.seq
where m.id = :id and b.attempt is not null order by b.delivered_at, b.agent

-- finished: Whether nobody goes on with a tree: its delivery is over, or going on would only repeat its end.
select 1 from jobs where id = :job and state in ('done', 'failed', 'cancelled')
union all
select 1 from trees where root = :root and stop <> ''
limit 1
