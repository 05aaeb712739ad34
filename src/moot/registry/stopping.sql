-- stop: Nobody wakes this agent from now on.
update agents set stopped_at = :now where id = :id and stopped_at is null and left_at is null

-- release: It may be woken again.
update agents set stopped_at = null where id = :id and stopped_at is not null and left_at is null
