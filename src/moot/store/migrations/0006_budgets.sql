-- What each agent has used: in a run, or in its instance's stream while none is live.
create table usage (
  scope text not null,
  agent text not null,
  attempts integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  turns integer not null,
  cost integer not null,
  busy integer not null,
  is_estimated integer not null,
  reached text,
  primary key (scope, agent)
) strict, without rowid;

-- What a run may use, when talk in it has gone on for too long, and which of these limits it has reached.
create table budgets (
  run text primary key,
  cost integer,
  time integer,
  attempts integer,
  tokens integer,
  turns integer,
  hops integer,
  ping_pong integer,
  spent integer not null,
  since integer,
  reached text,
  is_last_begun integer not null
) strict;

-- How many messages of agents led to this one, and how long two have been speaking in turn, with whom.
alter table messages add column hops integer not null default 0;
alter table messages add column rally integer not null default 0;
alter table messages add column partner text;

-- How many led to the mail that an attempt was given.
alter table attempts add column hops integer not null default 0;
