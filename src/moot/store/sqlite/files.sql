-- has_tables: Whether somebody has put anything into the file.
select 1 from sqlite_schema limit 1

-- hosts_alive: Hosts that may still use the tables a migration would change.
select id from hosts where stopped_at is null and lease_until > :now
