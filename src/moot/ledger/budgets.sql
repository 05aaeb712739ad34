-- open: What a run that starts now may use.
insert into budgets (run, cost, time, attempts, tokens, turns, hops, ping_pong, spent, since, is_last_begun)
values (:run, :cost, :time, :attempts, :tokens, :turns, :hops, :ping_pong, 0, :now, 0)

-- find: A run's budget.
select run, cost, time, attempts, tokens, turns, spent, since, reached, is_last_begun from budgets where run = :run

-- rest: The time of a run that has ended stands still.
update budgets set spent = :spent, since = null where run = :run

-- carry_on: A run goes on.
update budgets
set cost = :cost, time = :time, attempts = :attempts, tokens = :tokens, turns = :turns, spent = :spent, since = :now,
  reached = null, is_last_begun = 0
where run = :run

-- reach: A limit is reached, unless one was before.
update budgets set reached = :reason, is_last_begun = :is_last_begun where run = :run and reached is null

-- begin_last: The last attempt begins.
update budgets set is_last_begun = 1 where run = :run

-- reached: Why a run is coming to its end.
select reached from budgets where run = :run and reached is not null

-- guards: When talk in a run has gone on for too long.
select hops, ping_pong from budgets where run = :run

-- last_sign: When something last happened in a stream.
select at from streams where id = :stream

-- forget: The budget of a run.
delete from budgets where run = :run
