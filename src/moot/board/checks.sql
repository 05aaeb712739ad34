-- add: A check that nobody has made yet.
insert into checks (task, round, place, words, state, output, at) values (:task, :round, :place, :words, 'waiting', '', :now)

-- last_round: How often a task was checked.
select round from checks where task = :task order by round desc limit 1

-- of_round: The checks of one round.
select task, round, place, words, state, subject, output, at from checks
where task = :task and round = :round order by place

-- by_subject: The check that somebody was asked for.
select task, round, place, words, state, subject, output, at from checks where subject = :subject

-- tries: How often a task was checked since its holder has it.
select count(distinct c.round) from checks c join tasks t on t.id = c.task where c.task = :task and c.at >= t.claimed_at

-- note: What came of it.
update checks set state = :state, subject = :subject, output = :output, at = :now
where task = :task and round = :round and place = :place
