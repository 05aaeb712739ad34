-- there: The tasks of a board, none of which anybody else changes until the commit.
select id, name, folded, status from tasks where board = :board order by id for update

-- some_there: Those of some names.
select id, name, folded, status from tasks
where board = :board and folded in (select json_array_elements_text(:names)) order by id for update
