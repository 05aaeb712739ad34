-- has_schema: Whether somebody has made the schema.
select 1 from pg_namespace where nspname = :schema

-- has_store: Whether there are tables in it; by the catalog, as a session's search path may not know a new schema yet.
select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = :schema and c.relname = 'meta'

-- version: How far the store has been migrated.
select value from meta where key = 'version'

-- be_alone: Wait until no write is under way, and hold back those that come.
select pg_advisory_xact_lock(hashtextextended('moot ' || :schema, 0))

-- take_time: A migration may take longer than a statement in daily life.
set local statement_timeout = 0

-- hosts_alive: Hosts that may still use the tables a migration would change.
select id from hosts where stopped_at is null and lease_until > :now

-- set_version: Remember how far the store has come.
insert into meta (key, value) values ('version', :version)
on conflict (key) do update set value = excluded.value
