-- hold_there: All tasks of a board, for who is about to hold that.
select id from tasks where board = :board order by id for update

-- hold_some: The same for those of some names.
select id from tasks
where board = :board and folded in (select json_array_elements_text(:names)) order by id for update

-- there: The tasks of a board, none of which anybody else changes until the commit.
select id, name, folded, status, description, rank, parallel_group, complexity, assigned, capabilities, files, checks
from tasks where board = :board order by id for update

-- some_there: Those of some names.
select id, name, folded, status, description, rank, parallel_group, complexity, assigned, capabilities, files, checks
from tasks where board = :board and folded in (select json_array_elements_text(:names)) order by id for update
