-- opening: What every write starts from: time, version, its own number; during a migration it fails, and the rest with it.
select
  cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) as now,
  (select value from meta where key = 'version') as version,
  cast(pg_current_xact_id() as text) as number,
  1 / cast(pg_try_advisory_xact_lock_shared(hashtextextended('moot ' || current_schema(), 0)) as integer) as is_settled

-- clock: The database's time in microseconds.
select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)

-- hold: Lock a row until the end; then, and not before, read the clock.
with held as materialized (select 1 from some_table where some_key = :id for update)
select cast(extract(epoch from clock_timestamp()) * 1000000 as bigint) from (select count(*) from held) as counted

-- append: Take the stream's next number and keep an event under it; without a stream there is no number, and it fails.
with number as (
  update streams
  set seq = seq + 1, at = case when at >= :now then at + 1 else :now end,
    reacted = case when :is_quiet = 1 and reacted = seq then seq + 1 else reacted end
  where id = :stream
  returning seq, at
), kept as (
  insert into events (stream, seq, kind, subject, data, actor, at)
  values (
    :stream, (select seq from number), :kind, :subject, :data, :actor, (select at from number)
  )
)
select seq, at from number
