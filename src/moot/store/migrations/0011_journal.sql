-- Trees of sessions: for which delivery, what each was begun with, and why it is not gone on with.
create table trees (
  root text primary key,
  job text not null,
  generation integer not null,
  owner text not null,
  facts text not null,
  stop text not null,
  started_at integer not null
) strict;
create unique index trees_of_job on trees (job, generation);
create index trees_of_owner on trees (owner, started_at, generation);

-- What was begun in a tree of sessions and what came of it, each under its path; who pays for it, and where that is
-- added up.
create table journal (
  root text not null,
  path text not null,
  try integer not null,
  kind text not null,
  name text not null,
  agent text not null,
  trigger text not null,
  state text not null,
  attempt text not null,
  scope text not null,
  owner text not null,
  facts text not null,
  result text,
  stop text not null,
  error text,
  reserve integer not null,
  cost integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  reasoning_tokens integer not null,
  is_estimated integer not null,
  started_at integer not null,
  ended_at integer,
  primary key (root, path, try)
) strict;
create index journal_open on journal (attempt, scope) where state = 'started';
