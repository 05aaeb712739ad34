-- add: A new agent.
insert into agents (
  id, stream, instance, name, folded, role, label, runtime, backend, settings, capabilities, metadata,
  workspace_path, registered_by, status, seen_at, created_at
) values (
  :id, :stream, :instance, :name, :folded, :role, :label, :runtime, :backend, :settings, :capabilities, :metadata,
  :workspace_path, :registered_by, 'online', :seen_at, :now
)

-- refresh: Bring the settings of an agent up to date. If moot starts it, it may run again; others come by themselves.
update agents
set backend = :backend, runtime = :runtime, role = :role, label = :label, settings = :settings,
  capabilities = case when backend = 'external' then capabilities else :capabilities end, metadata = :metadata,
  stopped_at = case when backend = 'external' then stopped_at end,
  seen_at = case when backend = 'external' then seen_at else :now end
where id = :id

-- get: One agent by id.
select id, stream, instance, name, role, label, runtime, backend, settings, capabilities, metadata, workspace_path,
  registered_by, status, current_task, seen_at, created_at, stopped_at, left_at
from agents where id = :id

-- find: The newest bearer of a name in a stream.
select id, stream, instance, name, role, label, runtime, backend, settings, capabilities, metadata, workspace_path,
  registered_by, status, current_task, seen_at, created_at, stopped_at, left_at
from agents where stream = :stream and folded = :folded and left_at is null
order by created_at desc, id desc limit 1

-- forsaken: Bearers of a name from outside whose tokens are dead, or who have been silent for long.
select id, stream, instance, name, role, label, runtime, backend, settings, capabilities, metadata, workspace_path,
  registered_by, status, current_task, seen_at, created_at, stopped_at, left_at
from agents
where stream = :stream and folded = :folded and left_at is null and backend = 'external'
  and (
    seen_at <= :silent_since
    or not exists (
      select 1 from tokens
      where tokens.agent = agents.id and tokens.revoked_at is null
        and (tokens.expires_at is null or tokens.expires_at > :now)
    )
    and not exists (
      select 1 from tokens
      where tokens.id = agents.registered_by and tokens.revoked_at is null
        and (tokens.expires_at is null or tokens.expires_at > :now)
    )
  )
order by created_at, id

-- members: Everyone in a stream who has not left.
select id, stream, instance, name, role, label, runtime, backend, settings, capabilities, metadata, workspace_path,
  registered_by, status, current_task, seen_at, created_at, stopped_at, left_at
from agents where stream = :stream and left_at is null
order by created_at, id

-- heartbeat: Note a sign of life.
update agents
set seen_at = :now, status = coalesce(:status, status), current_task = coalesce(:current_task, current_task)
where id = :id and left_at is null

-- update: Change what an agent says of itself.
update agents
set status = coalesce(:status, status), capabilities = coalesce(:capabilities, capabilities),
  workspace_path = coalesce(:workspace_path, workspace_path), metadata = coalesce(:metadata, metadata), seen_at = :now
where id = :id and left_at is null

-- settle: Change the settings of an agent.
update agents set settings = :settings where id = :id

-- leave: The agent is gone for good.
update agents set left_at = :now where id = :id and left_at is null

-- addressee: Where mail to the newest bearer of a name goes.
select id, name, backend
from agents where stream = :stream and folded = :folded and left_at is null
order by created_at desc, id desc limit 1

-- addressees: Where mail to everyone goes.
select id, name, backend from agents where stream = :stream and left_at is null order by created_at, id

-- all_of: Everyone who was ever in a stream.
select id from agents where stream = :stream
