create table meta (
  key text primary key,
  value integer not null
) strict;
insert into meta (key, value) values ('barrier', 0);

create table instances (
  name text primary key,
  stream text not null,
  created_at integer not null
) strict;

create table streams (
  id text primary key,
  instance text not null,
  seq integer not null,
  reacted integer not null,
  at integer not null
) strict;
create index streams_with_news on streams (id) where seq > reacted;

create table events (
  stream text not null,
  seq integer not null,
  kind text not null,
  subject text not null,
  data text not null,
  actor text not null,
  at integer not null,
  primary key (stream, seq)
) strict, without rowid;

create table agents (
  id text primary key,
  stream text not null,
  instance text not null,
  name text not null,
  folded text not null,
  role text not null,
  label text not null,
  runtime text not null,
  backend text not null,
  settings text not null,
  capabilities text not null,
  metadata text not null,
  workspace_path text,
  registered_by text,
  status text not null,
  current_task text,
  seen_at integer not null,
  created_at integer not null,
  stopped_at integer,
  left_at integer
) strict;
create index agents_by_name on agents (stream, folded) where left_at is null;

create table tokens (
  id text primary key,
  hash text not null unique,
  kind text not null,
  instance text not null,
  role text not null,
  agent text,
  groups text,
  attempt text,
  process text,
  created_at integer not null,
  expires_at integer,
  revoked_at integer
) strict;
create index tokens_of_agent on tokens (agent) where revoked_at is null;
create index tokens_of_attempt on tokens (attempt) where attempt is not null;
create index tokens_of_process on tokens (process) where process is not null and revoked_at is null;

create table messages (
  stream text not null,
  seq integer not null,
  id text not null unique,
  sender text not null,
  sender_id text,
  kind text not null,
  body text not null,
  mentions text not null,
  priority text not null,
  thread text not null,
  reply_to text,
  task_id text,
  attempt text,
  at integer not null,
  primary key (stream, seq)
) strict, without rowid;
create index messages_of_thread on messages (thread, seq) where reply_to is not null;
create index messages_of_attempt on messages (attempt) where attempt is not null;

create table mailbox (
  stream text not null,
  seq integer not null,
  agent text not null,
  state text not null,
  priority text not null,
  attempt text,
  rejoined integer not null default 0,
  delivered_at integer,
  acked_at integer,
  primary key (stream, seq, agent)
) strict, without rowid;
create index mailbox_unread on mailbox (agent, seq) where state = 'queued' or state = 'delivered';
create index mailbox_parked on mailbox (agent, seq) where state = 'parked';

create table hosts (
  id text primary key,
  machine text not null,
  process text not null,
  roles text not null,
  url text,
  started_at integer not null,
  lease_until integer not null,
  stopped_at integer
) strict;
create index hosts_alive on hosts (lease_until) where stopped_at is null;

create table jobs (
  id text primary key,
  key text not null,
  kind text not null,
  stream text not null,
  subject text not null,
  arguments text not null,
  state text not null,
  run_at integer not null,
  deadline integer,
  owner text,
  lease_until integer,
  fence integer not null,
  tries integer not null,
  losses integer not null,
  on_loss text not null,
  again integer not null,
  error text,
  created_at integer not null,
  ended_at integer
) strict;
create unique index jobs_live on jobs (key) where state in ('queued', 'running', 'unknown');
create index jobs_due on jobs (run_at) where state = 'queued';
create index jobs_leased on jobs (lease_until) where state = 'running';
create index jobs_of_stream on jobs (stream) where state in ('queued', 'running', 'unknown');

create table attempts (
  id text primary key,
  agent text not null,
  job text not null,
  fence integer not null,
  number integer not null,
  host text not null,
  state text not null,
  error text,
  started_at integer not null,
  ended_at integer
) strict;
create index attempts_of_job on attempts (job);
create index attempts_running on attempts (agent) where state = 'running';

create table operations (
  id text primary key,
  kind text not null,
  name text not null,
  actor text not null,
  agent text,
  attempt text,
  scope text,
  key text,
  arguments text not null,
  state text not null,
  result text,
  started_at integer not null,
  ended_at integer
) strict;
create unique index operations_by_key on operations (scope, key) where key is not null;
create index operations_of_attempt on operations (attempt) where attempt is not null;
