-- attempts: What agents of an instance have tried, or one of them, the last before an id first.
select a.id, 'attempt' as kind, g.name, g.name as agent, a.id as attempt, a.number, a.state, a.error, a.started_at, a.ended_at
from attempts a join agents g on g.id = a.agent
where g.instance = :instance and :agent in ('', g.name) and a.id < :before
order by a.id desc limit :limit

-- operations: What agents of an instance have called, or one of them, the last before an id first.
select o.id, o.kind, o.name, g.name as agent, o.attempt, 1 as number, o.state,
  case when o.state = 'failed' then o.result end as error, o.started_at, o.ended_at
from operations o join agents g on g.id = o.agent
where g.instance = :instance and :agent in ('', g.name) and o.id < :before
order by o.id desc limit :limit

-- spent_by_agent: What was used in an instance, in pieces of time, by agent.
select (s.at / :step) * :step as at, coalesce(g.name, s.agent) as name, cast(sum(s.tokens) as bigint) as tokens,
  cast(sum(s.cost) as bigint) as cost
from spending s join agents g on g.id = s.agent
where g.instance = :instance and s.at >= :since
group by 1, 2 order by 1, 2

-- notes: Whenever something was used in an instance, by whom.
select s.agent, s.at, s.tokens, s.cost from spending s join agents g on g.id = s.agent
where g.instance = :instance order by s.agent, s.at
