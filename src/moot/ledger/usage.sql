-- begin: One attempt more.
insert into usage (
  scope, agent, attempts, input_tokens, output_tokens, turns, cost, busy, is_estimated
) values (
  :scope, :agent, 1, 0, 0, 0, 0, 0, 0
)
on conflict (scope, agent) do update set attempts = usage.attempts + 1

-- take_back: An attempt that could not work counts for nothing.
update usage set attempts = attempts - 1 where scope = :scope and agent = :agent

-- record: Add what an attempt has used.
update usage
set input_tokens = input_tokens + :input_tokens, output_tokens = output_tokens + :output_tokens, turns = turns + :turns,
  cost = cost + :cost, busy = busy + :busy,
  is_estimated = case when is_estimated = 1 or :is_estimated = 1 then 1 else 0 end
where scope = :scope and agent = :agent

-- note: When it was used; twice in one moment is added up.
insert into spending (scope, agent, at, tokens, cost) values (:scope, :agent, :now, :tokens, :cost)
on conflict (scope, agent, at) do update set tokens = spending.tokens + excluded.tokens, cost = spending.cost + excluded.cost

-- total: What all have used together.
select cast(coalesce(sum(attempts), 0) as bigint) as attempts,
  cast(coalesce(sum(input_tokens), 0) as bigint) as input_tokens,
  cast(coalesce(sum(output_tokens), 0) as bigint) as output_tokens,
  cast(coalesce(sum(turns), 0) as bigint) as turns, cast(coalesce(sum(cost), 0) as bigint) as cost,
  cast(coalesce(sum(busy), 0) as bigint) as busy, coalesce(max(is_estimated), 0) as is_estimated
from usage where scope = :scope

-- of_agent: What one agent has used.
select attempts, input_tokens, output_tokens, turns, cost, busy, is_estimated
from usage where scope = :scope and agent = :agent

-- by_agent: What each agent has used.
select attempts, input_tokens, output_tokens, turns, cost, busy, is_estimated, agent
from usage where scope = :scope order by agent

-- forget: What was used in a run, or in a stream outside of runs.
delete from usage where scope = :scope

-- forget_notes: When that was.
delete from spending where scope = :scope
