-- ask: A reviewer is asked, or asked again.
insert into team_reviews (instance, run, round, reviewer, verdict, issues, asked, at)
values (:instance, :run, :round, :reviewer, '', '[]', 1, :now)
on conflict (run, round, reviewer) do update set asked = team_reviews.asked + 1

-- give: What it says, if it has said nothing.
update team_reviews set verdict = :verdict, issues = :issues, at = :now
where run = :run and round = :round and reviewer = :reviewer and verdict = ''

-- of_round: What was asked for in a round.
select run, round, reviewer, verdict, issues, asked, at from team_reviews
where run = :run and round = :round order by reviewer

-- of_run: What was asked for in all rounds.
select run, round, reviewer, verdict, issues, asked, at from team_reviews where run = :run order by round, reviewer

-- renew: Who has said nothing is asked as if for the first time.
update team_reviews set asked = 0 where run = :run and round = :round and verdict = ''
