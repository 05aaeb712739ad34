-- Boards: plans whose tasks are claimed by whoever is ready. A run that came from a file has the id of its board.
create table boards (
  id text primary key,
  instance text not null,
  stream text not null,
  name text not null,
  source_type text not null,
  source_content text not null,
  source_ref text,
  status text not null,
  reason text not null,
  max_parallel integer not null,
  makes_workspaces integer not null,
  plan text not null,
  created_by text not null,
  created_at integer not null,
  updated_at integer not null
) strict;
create index boards_of_instance on boards (instance, created_at);

-- `holder` and `hand` (the token or attempt through which it acts) are there exactly while somebody is at work on it.
create table tasks (
  id text primary key,
  board text not null,
  stream text not null,
  name text not null,
  folded text not null,
  description text not null,
  rank integer not null,
  parallel_group text,
  complexity text,
  assigned text,
  capabilities text not null,
  files text not null,
  checks text not null,
  status text not null,
  blockers integer not null,
  holder text,
  hand text,
  fence integer not null,
  lease_until integer,
  claimed_at integer,
  plan text not null,
  context text not null,
  outcome text,
  outcome_detail text not null,
  error text,
  done_by text,
  created_at integer not null,
  started_at integer,
  ended_at integer,
  updated_at integer not null,
  check ((holder is null) = (status in ('pending', 'completed', 'failed', 'skipped')))
) strict;
create unique index tasks_by_name on tasks (board, folded);
create index tasks_in_order on tasks (board, rank);
create index tasks_ready on tasks (board, rank) where status = 'pending' and blockers = 0;
create index tasks_unfinished on tasks (board) where status in ('pending', 'planning', 'in_progress', 'verifying', 'failed');
create index tasks_held on tasks (board, lease_until) where holder is not null;
create index tasks_of_holder on tasks (holder) where holder is not null;
create index tasks_in_group on tasks (board, parallel_group, rank) where parallel_group is not null;
create index tasks_ended on tasks (board, ended_at, id) where status in ('completed', 'skipped');

create table task_edges (
  task text not null,
  needs text not null,
  kind text not null,
  primary key (task, needs)
) strict, without rowid;
create index task_edges_back on task_edges (needs);

create table checkpoints (
  task text not null,
  number integer not null,
  id text not null unique,
  type text not null,
  summary text not null,
  detail text not null,
  files text not null,
  agent text not null,
  at integer not null,
  primary key (task, number)
) strict, without rowid;

-- What must hold before a task counts as done; each time its holder says that it is, a new round.
create table checks (
  task text not null,
  round integer not null,
  place integer not null,
  words text not null,
  state text not null,
  subject text,
  output text not null,
  at integer not null,
  primary key (task, round, place)
) strict, without rowid;
create index checks_by_subject on checks (subject) where subject is not null;
