-- open: What a run that starts now may use.
insert into budgets (run, cost, time, attempts, tokens, turns, hops, ping_pong, spent, since)
values (:run, :cost, :time, :attempts, :tokens, :turns, :hops, :ping_pong, 0, :now)

-- find: A run's budget.
select run, cost, time, attempts, tokens, turns, spent, since from budgets where run = :run

-- rest: The time of a run that has ended stands still.
update budgets set spent = :spent, since = null where run = :run

-- carry_on: A run goes on.
update budgets
set cost = :cost, time = :time, attempts = :attempts, tokens = :tokens, turns = :turns, spent = :spent, since = :now
where run = :run

-- guards: When talk in a run has gone on for too long.
select hops, ping_pong from budgets where run = :run

-- last_sign: When something last happened in a stream.
select at from streams where id = :stream

-- forget: The budget of a run.
delete from budgets where run = :run
