-- add: A new token, by its hash.
insert into tokens (id, hash, kind, instance, role, agent, groups, attempt, process, created_at, expires_at)
values (:id, :hash, :kind, :instance, :role, :agent, :groups, :attempt, :process, :now, :expires_at)

-- identify: The bearer of a token that is valid now: not revoked, not expired, agent not gone, attempt running.
select tokens.id, agents.name, tokens.role, tokens.instance, tokens.agent, tokens.groups, tokens.attempt, attempts.fence
from tokens
left join agents on agents.id = tokens.agent
left join attempts on attempts.id = tokens.attempt
where tokens.hash = :hash and tokens.revoked_at is null
  and (tokens.expires_at is null or tokens.expires_at > :now)
  and (tokens.agent is null or agents.left_at is null)
  and (tokens.attempt is null or attempts.state = 'running')

-- revoke: This token is worth nothing from now on.
update tokens set revoked_at = :now where id = :id and revoked_at is null

-- revoke_of_agent: Nobody speaks for this agent any more.
update tokens set revoked_at = :now where agent = :agent and revoked_at is null

-- bearers: Living tokens that belong to a process.
select id, process from tokens
where process is not null and revoked_at is null and (expires_at is null or expires_at > :now)
