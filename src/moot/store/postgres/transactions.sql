-- outcome: What became of a transaction.
select pg_xact_status(cast(:number as xid8))

-- end_process: End the server's process that still holds a transaction whose client is gone.
select pg_terminate_backend(pid) from pg_stat_activity
where pid = :process and backend_xid = cast(cast(:number as xid8) as xid)
