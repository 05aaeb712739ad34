-- Teams: a lead, reviewers and workers who reach a goal together. An instance has one at most, which has its name.
-- `left_in` is the stage in which it has failed, from which it can go on.
create table teams (
  instance text primary key,
  stream text not null,
  goal text not null,
  members text not null,
  has_views integer not null,
  asks_for_plan integer not null,
  pushes integer not null,
  most_rounds integer not null,
  stage text not null,
  left_in text,
  reason text not null,
  round integer not null,
  run text,
  made_at integer not null,
  changed_at integer not null
) strict;
create index teams_by_run on teams (run) where run is not null;

-- What a reviewer was asked and says, round by round; `verdict` is empty until it has said something.
create table team_reviews (
  instance text not null,
  run text not null,
  round integer not null,
  reviewer text not null,
  verdict text not null,
  issues text not null,
  asked integer not null,
  at integer not null,
  primary key (run, round, reviewer)
) strict;
create index team_reviews_of_instance on team_reviews (instance);

-- How often something was done for a team that is done only so often.
create table team_marks (
  instance text not null,
  run text not null,
  name text not null,
  count integer not null,
  primary key (instance, run, name)
) strict, without rowid;

-- A branch that a workspace is merged into instead of its base: that of somebody else in the team.
alter table workspaces add column merge_into text not null default '';
