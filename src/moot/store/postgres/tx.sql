-- opening: The facts every write starts from: time, schema version, its own number, and that no migration is under way.
select
  cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) as now,
  (select value from meta where key = 'version') as version,
  cast(pg_current_xact_id() as text) as number,
  pg_try_advisory_xact_lock_shared(hashtextextended('moot ' || current_schema(), 0)) as is_settled

-- clock: The database's time in microseconds.
select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)

-- hold: Lock a row until the end; then, and not before, read the clock.
with held as materialized (select 1 from some_table where some_key = :id for update)
select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) from (select count(*) from held) as counted
