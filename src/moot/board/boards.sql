-- add: A board without a plan.
insert into boards (
  id, instance, stream, name, source_type, source_content, source_ref, status, reason, max_parallel, makes_workspaces,
  plan, created_by, created_at, updated_at
) values (
  :id, :instance, :stream, :name, :source_type, :source_content, :source_ref, 'planning', '', :max_parallel,
  :makes_workspaces, '{}', :created_by, :now, :now
)

-- get: One board by id.
select id, instance, stream, name, source_type, source_content, source_ref, status, reason, max_parallel,
  makes_workspaces, plan, created_by, created_at, updated_at
from boards where id = :id

-- all_of: The boards of an instance in some states, the newest first.
select id, instance, stream, name, source_type, source_content, source_ref, status, reason, max_parallel,
  makes_workspaces, plan, created_by, created_at, updated_at
from boards where instance = :instance and status in (select value from json_each(:statuses))
order by created_at desc, id desc limit :limit

-- turn: Its state, unless somebody else has changed it.
update boards set status = :status, reason = :reason, updated_at = :now where id = :id and status = :before

-- describe: What its plan says beside its tasks.
update boards set plan = :plan, updated_at = :now where id = :id

-- forget_checks: What was asked for before they counted as done.
delete from checks
where task in (select t.id from tasks t join boards b on b.id = t.board where b.instance = :instance)

-- forget_checkpoints: What was noted on the way.
delete from checkpoints
where task in (select t.id from tasks t join boards b on b.id = t.board where b.instance = :instance)

-- forget_edges: What needed what.
delete from task_edges
where task in (select t.id from tasks t join boards b on b.id = t.board where b.instance = :instance)

-- forget_tasks: What was to be done.
delete from tasks where board in (select id from boards where instance = :instance)

-- forget: The boards themselves.
delete from boards where instance = :instance
