-- all_of: The boards of an instance in some states, the newest first.
select id, instance, stream, name, source_type, source_content, source_ref, status, reason, max_parallel,
  makes_workspaces, plan, created_by, created_at, updated_at
from boards where instance = :instance and status in (select json_array_elements_text(:statuses))
order by created_at desc, id desc limit :limit
