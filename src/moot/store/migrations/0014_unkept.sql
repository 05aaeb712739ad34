-- An instance whose agents share nothing has no files.
alter table document_rules add column is_kept integer not null default 1;
