-- form: A team, or another shape of the one that is there.
insert into teams (
  instance, stream, goal, members, has_views, asks_for_plan, pushes, most_rounds, stage, reason, round, made_at, changed_at
) values (
  :instance, :stream, :goal, :members, :has_views, :asks_for_plan, :pushes, :most_rounds, 'formed', '', 0, :now, :now
)
on conflict (instance) do update
set stream = excluded.stream, goal = excluded.goal, members = excluded.members, has_views = excluded.has_views,
  asks_for_plan = excluded.asks_for_plan, pushes = excluded.pushes, most_rounds = excluded.most_rounds,
  changed_at = excluded.changed_at

-- begin: From the beginning, in a run.
update teams
set stage = 'planning', left_in = null, reason = '', round = 1, run = :run, changed_at = :now
where instance = :instance

-- aim: What it is to reach.
update teams set goal = :goal where instance = :instance

-- move: To another stage, if it is still where it was seen.
update teams
set stage = :stage, left_in = :left_in, reason = :reason, round = :round, changed_at = :now
where instance = :instance and run = :run and stage = :before and round = :before_round

-- allow_round: One round more.
update teams set most_rounds = most_rounds + 1 where instance = :instance

-- get: One team.
select instance, stream, goal, members, has_views, asks_for_plan, pushes, most_rounds, stage, left_in, reason, round, run,
  made_at, changed_at
from teams where instance = :instance

-- of_run: The team of a run.
select instance, stream, goal, members, has_views, asks_for_plan, pushes, most_rounds, stage, left_in, reason, round, run,
  made_at, changed_at
from teams where run = :run

-- run_in: The run of the team that is at work in a stream.
select run from teams where stream = :stream and stage not in ('formed', 'done', 'failed')

-- all_of: All teams, by name.
select instance, stream, goal, members, has_views, asks_for_plan, pushes, most_rounds, stage, left_in, reason, round, run,
  made_at, changed_at
from teams order by instance

-- forget_reviews: What was ever said of its work.
delete from team_reviews where instance = :instance

-- forget_marks: What was counted for it.
delete from team_marks where instance = :instance

-- forget: The team itself.
delete from teams where instance = :instance
