-- Who may write the documents of an instance, which of them is read first, and where their files lie. Its row is locked by every change.
create table document_rules (
  instance text primary key,
  entry text not null,
  folder text,
  channel text not null,
  owner text,
  election text
) strict;

-- Long texts, each kept once.
create table blobs (
  hash text primary key,
  content text not null
) strict;

-- The documents of an instance as they are; a deleted one keeps its row, so that its versions go on counting.
create table documents (
  instance text not null,
  folded text not null,
  file text not null,
  version integer not null,
  hash text,
  size integer not null,
  author text not null,
  at integer not null,
  primary key (instance, folded)
) strict, without rowid;

-- What they were; a version without a hash is the deletion.
create table document_versions (
  instance text not null,
  folded text not null,
  version integer not null,
  action text not null,
  hash text,
  size integer not null,
  author text not null,
  agent text,
  attempt text,
  at integer not null,
  primary key (instance, folded, version)
) strict, without rowid;
