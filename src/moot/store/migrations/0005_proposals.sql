-- What is put to a vote, on which terms, and what came of it.
create table proposals (
  id text primary key,
  stream text not null,
  instance text not null,
  type text not null,
  purpose text not null,
  title text not null,
  description text not null,
  options text not null,
  creator text not null,
  creator_id text,
  rule text not null,
  quorum integer not null,
  is_quorum_required integer not null,
  tie_breaker text not null,
  is_binding integer not null,
  created_at integer not null,
  expires_at integer not null,
  message text,
  status text not null,
  winner text,
  seed text,
  assignments text not null,
  resolved_by text,
  reason text not null,
  closed_at integer
) strict;
create index proposals_of_stream on proposals (stream, created_at, id);
create index proposals_open on proposals (stream, created_at, id) where status = 'active';

-- Who may vote, fixed when the proposal was made, and how each one did.
create table electors (
  proposal text not null,
  place integer not null,
  agent text not null,
  name text not null,
  choice text,
  reason text not null,
  number integer,
  voted_at integer,
  primary key (proposal, agent)
) strict, without rowid;
