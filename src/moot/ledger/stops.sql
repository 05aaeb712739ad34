-- reach: A limit is reached, unless one was before.
insert into stops (scope, agent, reason, heir, is_final) values (:scope, :agent, :reason, :heir, :is_final)
on conflict (scope, agent) do nothing

-- find: What was reached, and what has become of the last attempt.
select s.reason, s.heir, s.is_final, a.state as last
from stops s left join attempts a on a.id = s.attempt where s.scope = :scope and s.agent = :agent

-- begin_last: The last attempt begins; if it is lost, it is the same agent's to repeat.
update stops set attempt = :attempt, heir = :heir where scope = :scope and agent = :agent

-- put_off: The last attempt could not work, and is still to be made.
update stops set attempt = null where scope = :scope and attempt = :attempt

-- finish: No attempt begins any more.
update stops set is_final = 1 where scope = :scope and agent = :agent

-- of_agents: The agents that have reached a limit of their own.
select agent, reason from stops where scope = :scope and agent <> '' order by agent

-- lift: Whoever reached the limit may use more.
delete from stops where scope = :scope and agent = :agent

-- forget: All of a run, or of a stream outside of runs.
delete from stops where scope = :scope
