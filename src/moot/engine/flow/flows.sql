-- add: A flow that is about to begin.
insert into flows (
  id, instance, stream, name, source, given, own, driver, holder, role, tool_groups, status, waits_for, version, last_step, credits,
  retries, result, error, started_at, updated_at, ended_at
) values (
  :id, :instance, :stream, :name, :source, :given, :own, :driver, :holder, :role, :tool_groups, 'starting', '', 0, 0, :credits,
  0, null, '', :now, :now, null
)

-- add_files: The texts that it is made from.
insert into flow_texts (flow, files) values (:flow, :files)

-- get: One flow by id.
select id, instance, stream, name, source, given, own, driver, holder, role, tool_groups, status, waits_for, version, last_step, credits,
  retries, result, error, started_at, updated_at, ended_at
from flows where id = :id

-- version: Which is the newest.
select version from flows where id = :id

-- files: The texts that it is made from.
select files from flow_texts where flow = :id

-- all_of: The flows of an instance, the newest first.
select id, instance, stream, name, source, given, own, driver, holder, role, tool_groups, status, waits_for, version, last_step, credits,
  retries, result, error, started_at, updated_at, ended_at
from flows where instance = :instance order by started_at desc, id desc limit :limit

-- live: Those of a stream that are not over.
select id, instance, stream, name, source, given, own, driver, holder, role, tool_groups, status, waits_for, version, last_step, credits,
  retries, result, error, started_at, updated_at, ended_at
from flows where stream = :stream and status in ('starting', 'in_progress') order by id

-- step: One step further, to where the first strand is then, unless somebody else has taken it.
update flows set version = version + 1, last_step = :last_step, frames = :frames, tries = :tries, updated_at = :now
where id = :id and version = :version

-- turn: What else has changed with that step, which is in indexes and seldom does.
update flows
set status = :status, credits = :credits, retries = :retries, result = :result, error = :error, ended_at = :ended_at
where id = :id

-- wait: What it waits for.
update flows set waits_for = :waits_for where id = :id

-- end: Over, by the word of whoever drives it.
update flows
set version = version + 1, status = :status, error = :error, updated_at = :now, ended_at = :now
where id = :id and status in ('starting', 'in_progress')

-- reopen: To go on with what had failed.
update flows
set version = version + 1, status = :status, waits_for = '', error = '', retries = :retries, updated_at = :now, ended_at = null
where id = :id and status = 'failed'

-- take_over: What was computed before is refused.
update flows set version = version + 1 where id = :id

-- hand_over: Another agent drives it.
update flows set holder = :holder, version = version + 1, updated_at = :now where id = :id

-- allow: How many steps it may take; null is as many as there are.
update flows
set credits = :credits, waits_for = case when waits_for = 'credit' then '' else waits_for end, version = version + 1,
  updated_at = :now
where id = :id

-- set_field: A field has a value.
insert into flow_fields (flow, key, value, version) values (:flow, :key, :value, :version)
on conflict (flow, key) do update set value = excluded.value, version = excluded.version

-- drop_field: A field has none any more.
delete from flow_fields where flow = :flow and key = :key

-- clear: Nothing is known any more.
delete from flow_fields where flow = :flow

-- fields: The whole state.
select key, value, version from flow_fields where flow = :flow

-- field: One field.
select key, value, version from flow_fields where flow = :flow and key = :key

-- forget_files: What the flows of an instance are made from.
delete from flow_texts where flow in (select id from flows where instance = :instance)

-- forget_fields: The state of the flows of an instance.
delete from flow_fields where flow in (select id from flows where instance = :instance)

-- forget_strands: Where they were.
delete from strands where flow in (select id from flows where instance = :instance)

-- forget_steps: What they have done.
delete from flow_steps where flow in (select id from flows where instance = :instance)

-- forget_inbox: What was wanted of them.
delete from flow_inbox where flow in (select id from flows where instance = :instance)

-- forget_traces: What was computed.
delete from flow_traces where flow in (select id from flows where instance = :instance)

-- forget_checkpoints: What was kept of them.
delete from flow_checkpoints where flow in (select id from flows where instance = :instance)

-- forget: The flows themselves.
delete from flows where instance = :instance
