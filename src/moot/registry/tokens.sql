-- add: A new token, by its hash.
insert into tokens (id, hash, kind, instance, role, agent, groups, attempt, process, created_at, expires_at)
values (:id, :hash, :kind, :instance, :role, :agent, :groups, :attempt, :process, :now, :expires_at)

-- identify: The bearer of a token that is valid now: not revoked or expired, agent here, attempt running, its host alive.
select tokens.id, agents.name, tokens.role, tokens.instance, tokens.agent, tokens.groups, tokens.attempt, attempts.fence
from tokens
left join agents on agents.id = tokens.agent
left join attempts on attempts.id = tokens.attempt
left join hosts on hosts.id = attempts.host
where tokens.hash = :hash and tokens.kind in ('attempt', 'member', 'operator') and tokens.revoked_at is null
  and (tokens.expires_at is null or tokens.expires_at > :now)
  and (tokens.agent is null or agents.left_at is null)
  and (tokens.attempt is null or attempts.state = 'running')
  and (hosts.id is null or (hosts.stopped_at is null and hosts.lease_until > :now))

-- revoke: This token is worth nothing from now on.
update tokens set revoked_at = :now where id = :id and revoked_at is null

-- stop_agents: Agents from outside for whom only this token could speak have stopped.
update agents set stopped_at = :now
where id in (
    select agent from tokens where tokens.id = :id
    union all
    select registered.id from agents as registered where registered.registered_by = :id
  )
  and backend = 'external' and stopped_at is null and left_at is null
  and not exists (
    select 1 from tokens as own
    where own.agent = agents.id and own.revoked_at is null and (own.expires_at is null or own.expires_at > :now)
  )
  and not exists (
    select 1 from tokens as registrar
    where registrar.id = agents.registered_by and registrar.revoked_at is null
      and (registrar.expires_at is null or registrar.expires_at > :now)
  )
returning id

-- resume_agent: An agent from outside is back.
update agents set stopped_at = null, seen_at = :now where id = :agent and backend = 'external' and left_at is null

-- speaks_for: A living token of an agent, or of who has registered it.
select 1 from tokens
where tokens.agent = :agent and tokens.revoked_at is null and (tokens.expires_at is null or tokens.expires_at > :now)
union all
select 1 from agents join tokens on tokens.id = agents.registered_by
where agents.id = :agent and tokens.revoked_at is null and (tokens.expires_at is null or tokens.expires_at > :now)
limit 1

-- revoke_of_agent: Nobody speaks for this agent any more.
update tokens set revoked_at = :now where agent = :agent and revoked_at is null

-- bearers: Living tokens that belong to a process.
select id, process from tokens
where process is not null and revoked_at is null and (expires_at is null or expires_at > :now)

-- is_spent: Whether a token is worth nothing any more.
select 1 from tokens left join attempts on attempts.id = tokens.attempt
where tokens.id = :id and (
  tokens.revoked_at is not null or tokens.expires_at <= :now or coalesce(attempts.state, 'running') <> 'running'
)

-- regrant: Who speaks for an agent from outside may do what its new part allows, and no more.
update tokens set role = :role, groups = :groups where agent = :agent and kind = 'member' and revoked_at is null
