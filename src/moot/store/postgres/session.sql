-- open: Make commits durable where they are not, and learn which life of the server this is.
select
  (select cast(stats_reset as text) from pg_stat_wal) as life,
  case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end
