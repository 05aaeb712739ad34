-- Flows: definitions being carried out, one step after the other. A run that came from a file has the id of its flow.
-- `version` grows with every commit of the one who advances it; who has computed from an older one computes anew.
create table flows (
  id text primary key,
  instance text not null,
  stream text not null,
  name text not null,
  source text not null,
  given text not null,
  own text not null,
  driver text not null,
  holder text,
  role text not null,
  tool_groups text,
  status text not null,
  waits_for text not null,
  version integer not null,
  last_step integer not null,
  credits integer,
  retries integer not null,
  result text,
  error text not null,
  started_at integer not null,
  updated_at integer not null,
  ended_at integer
) strict;
create index flows_of_instance on flows (instance, started_at, id);
create index flows_live on flows (stream) where status in ('starting', 'in_progress');

-- The texts that a flow is made from: long, and apart from what changes with every step.
create table flow_texts (
  flow text primary key,
  files text not null
) strict;

-- The state: JSON text by key, of which only what changes is written.
create table flow_fields (
  flow text not null,
  key text not null,
  value text not null,
  version integer not null,
  primary key (flow, key)
) strict, without rowid;

-- Strands: where a flow is. The first is that of the file's own steps, each other that of a sub-agent's task.
create table strands (
  flow text not null,
  number integer not null,
  parent integer,
  fork integer not null,
  task_id text not null,
  frames text not null,
  tries integer not null,
  status text not null,
  holder text,
  own text not null,
  step_id text not null,
  work text,
  since integer not null,
  given_at integer,
  is_applied integer not null,
  waits_on text,
  wakes_at integer,
  seen_step integer not null,
  retries integer not null,
  error text not null,
  primary key (flow, number)
) strict, without rowid;
create index strands_by_subject on strands (waits_on) where waits_on is not null;
create index strands_by_task on strands (flow, task_id);

create table flow_steps (
  flow text not null,
  number integer not null,
  strand integer not null,
  step_id text not null,
  type text not null,
  doer text not null,
  status text not null,
  detail text not null,
  error text not null,
  started_at integer not null,
  ended_at integer not null,
  primary key (flow, number)
) strict, without rowid;
create index flow_steps_by_id on flow_steps (flow, strand, step_id);

-- What others want of a flow: whoever advances it takes them in, in their order.
create table flow_inbox (
  id text primary key,
  flow text not null,
  strand integer not null,
  kind text not null,
  body text not null,
  answer text,
  at integer not null
) strict;
create index flow_inbox_open on flow_inbox (flow, id) where answer is null;
create index flow_inbox_answered on flow_inbox (flow, at) where answer is not null;

create table flow_traces (
  flow text not null,
  version integer not null,
  place integer not null,
  field text not null,
  trigger_key text not null,
  input text not null,
  output text,
  error text not null,
  micros integer not null,
  at integer not null,
  primary key (flow, version, place)
) strict, without rowid;
create index flow_traces_of_field on flow_traces (flow, field, version);

create table flow_checkpoints (
  id text primary key,
  flow text not null,
  step_id text not null,
  reason text not null,
  version integer not null,
  state text not null,
  at integer not null
) strict;
create index flow_checkpoints_of_flow on flow_checkpoints (flow, at, id);
