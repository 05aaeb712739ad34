-- shares: What each agent has used in each run, or outside of runs.
select u.scope, u.agent as owner, coalesce(a.name, u.agent) as name, coalesce(a.instance, '') as instance,
  r.name as run, r.started_at, u.attempts, u.input_tokens, u.output_tokens, u.turns, u.cost, u.is_estimated
from usage u left join agents a on a.id = u.agent left join runs r on r.id = u.scope
order by u.scope, u.agent

-- calls: What models were asked in sessions, by account, agent of the tree and model; a session alone asks none.
select scope, owner, agent, case when kind = 'model' then name else '' end as model,
  sum(case when kind = 'model' then 1 else 0 end) as calls,
  sum(case when kind = 'model' and state = 'done' then 1 else 0 end) as answered,
  sum(case when kind = 'model' and state = 'unknown' then 1 else 0 end) as unknown_calls,
  cast(sum(case when state = 'unknown' then cost else 0 end) as bigint) as unknown_cost,
  cast(sum(case when state = 'started' then reserve else 0 end) as bigint) as reserved,
  cast(sum(input_tokens) as bigint) as input_tokens, cast(sum(output_tokens) as bigint) as output_tokens,
  cast(sum(cache_read_tokens) as bigint) as cache_read_tokens,
  cast(sum(cache_write_tokens) as bigint) as cache_write_tokens,
  cast(sum(reasoning_tokens) as bigint) as reasoning_tokens, cast(sum(cost) as bigint) as cost,
  max(is_estimated) as is_estimated
from journal where kind in ('model', 'session')
group by 1, 2, 3, 4
order by 1, 2, 3, 4
