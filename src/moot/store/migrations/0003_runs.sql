-- An execution of a workflow: the part of its instance's stream from first_seq to last_seq.
create table runs (
  id text primary key,
  instance text not null,
  stream text not null,
  name text not null,
  source text not null,
  mode text not null,
  state text not null,
  phase text not null,
  definition text not null,
  given text not null,
  outputs text not null,
  attended_by text,
  stop_asked text,
  is_paused integer not null,
  first_seq integer not null,
  last_seq integer,
  reason text not null,
  started_at integer not null,
  ended_at integer
) strict;
create unique index runs_live on runs (instance) where state = 'live';
create index runs_of_instance on runs (instance, started_at, id);

alter table hosts add column stop_asked text;

alter table attempts add column run text;
create index attempts_of_run on attempts (run) where run is not null;
