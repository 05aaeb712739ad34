-- Questions to one addressee, and what came of them.
create table requests (
  id text primary key,
  stream text not null,
  instance text not null,
  kind text not null,
  requester text not null,
  requester_id text,
  addressee text not null,
  addressee_id text not null,
  is_for_person integer not null,
  title text not null,
  body text not null,
  options text not null,
  hash text not null,
  state text not null,
  answer text not null,
  answered_by text,
  message text,
  created_at integer not null,
  expires_at integer,
  answered_at integer,
  used_at integer
) strict;
create index requests_of_stream on requests (stream, created_at, id);
create index requests_open on requests (stream, created_at, id) where state = 'open';
create index requests_by_message on requests (message) where message is not null;
create index requests_unused on requests (requester_id, hash) where state = 'approved' and used_at is null;
-- The same asked again while it is open is the same request.
create unique index requests_alike on requests (stream, requester, addressee_id, hash) where state = 'open';
