-- Programs' own conversations, to go on with; what was used is counted from their beginning.
create table conversations (
  agent text not null,
  backend text not null,
  handle text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  turns integer not null,
  cost integer not null,
  is_estimated integer not null,
  at integer not null,
  primary key (agent, backend)
) strict, without rowid;

-- Providers that asked everybody to wait.
create table pauses (
  provider text primary key,
  until integer not null,
  reason text not null,
  at integer not null
) strict;
