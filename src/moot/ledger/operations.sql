-- add: Something was done, or is being done under a key that nobody else has used.
insert into operations (
  id, kind, name, actor, agent, attempt, scope, key, arguments, state, started_at, ended_at
) values (
  :id, :kind, :name, :actor, :agent, :attempt, :scope, :key, :arguments, :state, :now, :now
)
on conflict (scope, key) where key is not null do nothing

-- end: It was done, and this is the answer.
update operations set state = 'done', result = :result, ended_at = :now where id = :id

-- fail: It was tried and failed; its key is free again.
update operations set state = 'failed', result = :error, key = null, ended_at = :now where id = :id

-- lose: What an attempt had begun and not ended is of unknown outcome.
update operations set state = 'unknown', ended_at = :now where attempt = :attempt and state = 'started'

-- by_key: The call that was made under this key.
select id, kind, name, actor, arguments, state, result, started_at
from operations where scope = :scope and key = :key

-- of_attempt: What an attempt has done.
select id, kind, name, actor, arguments, state, result, started_at
from operations where attempt = :attempt order by started_at, id

-- has_called: Whether an attempt has made a call of this name.
select 1 from operations where attempt = :attempt and name = :name and state in ('done', 'repeated') limit 1

-- forget: What an agent did.
delete from operations where agent = :agent
