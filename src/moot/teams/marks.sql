-- add: One more.
insert into team_marks (instance, run, name, count) values (:instance, :run, :name, 1)
on conflict (instance, run, name) do update set count = team_marks.count + 1
returning count

-- count: How often.
select count from team_marks where instance = :instance and run = :run and name = :name

-- names: What was done at all.
select name from team_marks where instance = :instance and run = :run

-- clear: As if nothing had been done; what says whose something is stays so.
delete from team_marks where instance = :instance and run = :run and name not like 'own:%'
