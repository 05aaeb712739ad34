-- add: One more, with the next number of its task.
insert into checkpoints (task, number, id, type, summary, detail, files, agent, at)
select :task, coalesce((select number from checkpoints where task = :task order by number desc limit 1), 0) + 1,
  :id, :type, :summary, :detail, :files, :agent, :now
returning number

-- latest: The newest first.
select id, task, number, type, summary, detail, files, agent, at
from checkpoints where task = :task and number < :before order by number desc limit :limit

-- page: The oldest first.
select id, task, number, type, summary, detail, files, agent, at
from checkpoints where task = :task and number > :after order by number limit :limit

-- last_number: How many a task has.
select number from checkpoints where task = :task order by number desc limit 1
