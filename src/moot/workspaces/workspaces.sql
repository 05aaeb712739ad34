-- add: A workspace, unless another is on the same branch.
insert into workspaces (
  id, stream, instance, board, branch, branch_key, base_branch, repo, is_anywhere, place, is_branch_ours, status, wanted,
  setup, trouble, created_by, created_name, made_at
) values (
  :id, :stream, :instance, :board, :branch, :branch_key, :base_branch, :repo, :is_anywhere, '', 0, :status, :wanted,
  :setup, '{}', :created_by, :created_name, :now
)
on conflict do nothing
returning id

-- get: One workspace.
select id, stream, instance, board, branch, base_branch, base_commit, merge_into, repo, is_anywhere, place, repo_path, path,
  is_branch_ours, status, wanted, setup, merge_from, merge_commit, kept_branch, trouble, created_by, created_name,
  made_at, closed_at
from workspaces where id = :id

-- on_branch: The one that is on a branch.
select id from workspaces
where repo = :repo and branch_key = :branch_key and (status in ('creating', 'active') or path is not null)

-- own: The project's own repository, where a workspace was made in it that lies there.
select repo_path from workspaces where repo = '' and repo_path = :repo_path limit 1

-- all_of: The workspaces of an instance or of a board, oldest first.
select id, stream, instance, board, branch, base_branch, base_commit, merge_into, repo, is_anywhere, place, repo_path, path,
  is_branch_ours, status, wanted, setup, merge_from, merge_commit, kept_branch, trouble, created_by, created_name,
  made_at, closed_at
from workspaces where instance = :instance and (:board = '' or board = :board) order by made_at, id

-- everywhere: All workspaces of the store, oldest first.
select id, stream, instance, board, branch, base_branch, base_commit, merge_into, repo, is_anywhere, place, repo_path, path,
  is_branch_ours, status, wanted, setup, merge_from, merge_commit, kept_branch, trouble, created_by, created_name,
  made_at, closed_at
from workspaces order by made_at, id

-- unfinished: What was asked for in a place, and is not done.
select id, stream, instance, board, branch, base_branch, base_commit, merge_into, repo, is_anywhere, place, repo_path, path,
  is_branch_ours, status, wanted, setup, merge_from, merge_commit, kept_branch, trouble, created_by, created_name,
  made_at, closed_at
from workspaces where wanted <> '' and place in ('', :place) order by made_at, id

-- settle: The place where it is worked on, once and for all.
update workspaces set place = :place where id = :id and place = ''

-- plan: What is going to be made.
update workspaces
set repo = :repo, repo_path = :repo_path, path = :path, base_branch = :base_branch, base_commit = :base_commit,
  is_branch_ours = :is_branch_ours
where id = :id

-- change: What has become of it.
update workspaces
set status = :status, wanted = :wanted, path = :path, merge_into = :merge_into,
  merge_from = :merge_from, merge_commit = :merge_commit,
  kept_branch = :kept_branch, trouble = :trouble, closed_at = :closed_at
where id = :id

-- attach: A task that is worked on there.
insert into workspace_tasks (workspace, task) values (:id, :task) on conflict do nothing

-- tasks: What is worked on there.
select task from workspace_tasks where workspace = :id order by task

-- of_task: Where a task is worked on, the newest first.
select w.id from workspace_tasks t join workspaces w on w.id = t.workspace
where t.task = :task order by w.made_at desc, w.id desc

-- forget_tasks: The tasks of an instance's workspaces.
delete from workspace_tasks where workspace in (select id from workspaces where instance = :instance)

-- forget: The workspaces of an instance.
delete from workspaces where instance = :instance
