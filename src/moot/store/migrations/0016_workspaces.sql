-- Where agents work: a branch, and mostly a worktree with it. `wanted` is what somebody has asked for and is not done.
create table workspaces (
  id text primary key,
  stream text not null,
  instance text not null,
  board text not null,
  branch text not null,
  branch_key text not null,
  base_branch text not null,
  base_commit text,
  repo text not null,
  is_anywhere integer not null,
  place text not null,
  repo_path text,
  path text,
  is_branch_ours integer not null,
  status text not null,
  wanted text not null,
  setup text not null,
  merge_from text,
  merge_commit text,
  kept_branch text,
  trouble text not null,
  created_by text,
  created_name text not null,
  made_at integer not null,
  closed_at integer
) strict;
create index workspaces_of_instance on workspaces (instance, made_at, id);
create index workspaces_unfinished on workspaces (place) where wanted <> '';
-- Two workspaces never share a branch, nor do two that lie on it.
create unique index workspaces_by_branch on workspaces (repo, branch_key)
  where status in ('creating', 'active') or path is not null;
create unique index workspaces_by_path on workspaces (path) where path is not null;

create table workspace_tasks (
  workspace text not null,
  task text not null,
  primary key (workspace, task)
) strict;
create index workspace_tasks_by_task on workspace_tasks (task);
