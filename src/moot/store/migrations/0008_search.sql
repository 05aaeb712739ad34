-- The words of messages, brought up to date by whoever searches. The texts themselves stay where they are.
create virtual table message_words using fts5 (
  stream unindexed, seq unindexed, body,
  content = '', contentless_delete = 1, contentless_unindexed = 1, tokenize = 'unicode61 remove_diacritics 0'
);

-- How far the messages of a stream are in it.
create table message_marks (
  stream text primary key,
  seq integer not null
) strict, without rowid;

-- The words of the documents as they are, under the row numbers of their marks.
create virtual table document_words using fts5 (
  content,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

-- Which text of a document is in it.
create table document_marks (
  id integer primary key,
  instance text not null,
  folded text not null,
  hash text not null,
  unique (instance, folded)
) strict;
