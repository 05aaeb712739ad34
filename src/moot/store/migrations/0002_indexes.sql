-- A host looks for attempts, for other jobs, or for both: each by an index of its own.
create index jobs_due_attempts on jobs (run_at, id) where state = 'queued' and kind = 'attempt';
create index jobs_due_others on jobs (run_at, id) where state = 'queued' and kind <> 'attempt';
drop index jobs_due;

-- Whether an attempt has spoken is asked of its operations.
drop index messages_of_attempt;

-- When a token dies, the agents that were registered with it are looked up.
create index agents_by_registrar on agents (registered_by);
