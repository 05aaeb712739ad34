-- add: Something was done.
insert into operations (
  id, kind, name, actor, agent, attempt, scope, key, arguments, state, result, started_at, ended_at
) values (
  :id, :kind, :name, :actor, :agent, :attempt, :scope, :key, :arguments, :state, :result, :now, :now
)

-- by_key: The call that was made under this key.
select id, kind, name, actor, arguments, state, result, started_at
from operations where scope = :scope and key = :key

-- of_attempt: What an attempt has done.
select id, kind, name, actor, arguments, state, result, started_at
from operations where attempt = :attempt order by id
